package population

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/task"
)

// A lexicon says as much of a language as it takes to tell code from comments and layout.
type lexicon struct {
	line   []string // what begins a comment that ends with the line
	block  [2]string
	quotes string // what begins and ends a string
	triple string // those of which three begin and end one over lines
	regex  bool   // "/" may begin a pattern
	indent bool   // the indentation of a line counts
}

var (
	cLike    = lexicon{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "\"'`", triple: "\""}
	scripted = lexicon{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "\"'`", regex: true}
	hashed   = lexicon{line: []string{"#"}, quotes: "\"'", triple: "\""}
	dashed   = lexicon{line: []string{"--"}, quotes: "\"'"}
)

// lexiconOf returns the lexicon of a language. It reports false for one that is not known, and for text, where nothing
// is a comment and all layout may count.
func lexiconOf(language string) (lexicon, bool) {
	switch language {
	case "javascript", "typescript":
		return scripted, true
	case "go", "c", "c++", "c#", "cuda", "rust", "zig", "java", "kotlin", "scala", "swift":
		return cLike, true
	case "python":
		return lexicon{line: hashed.line, quotes: hashed.quotes, triple: hashed.quotes, indent: true}, true
	case "r", "julia":
		return hashed, true
	case "sql":
		return dashed, true
	}
	return lexicon{quotes: "\"", indent: true}, false
}

// languageOf returns the language of a task's programs by the ending of their files.
func languageOf(t task.Task) string { return task.LanguageOf(task.Ext(t)) }

// essence returns what a program is but for comments and layout: two programs with one essence do the same. Where that
// is not sure, two programs that do the same have different ones: line ends count, as some languages end a statement
// there, and so do all strings.
func essence(program, language string) string {
	lex, known := lexiconOf(language)
	if known {
		return strings.Join(lex.tokens(program), "\x00")
	}
	var b strings.Builder
	for line := range strings.Lines(program) {
		b.WriteString(strings.TrimRight(line, " \t\r\n"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// lineEnd is the token of one or more line ends, with the indentation of the line after them where that counts.
const lineEnd = "\n"

// tokens returns the words, strings, operators and line ends of a program, without comments. It takes time linear in
// the program.
func (x lexicon) tokens(program string) []string {
	s := scanner{lexicon: x, rest: strings.ReplaceAll(program, "\r\n", "\n")}
	s.newLine()
	for s.rest != "" {
		s.step()
	}
	for len(s.found) > 0 && strings.HasPrefix(s.found[len(s.found)-1], lineEnd) {
		s.found = s.found[:len(s.found)-1]
	}
	return s.found
}

// A scanner reads tokens.
type scanner struct {
	lexicon
	rest   string
	found  []string
	atLine bool   // nothing but white space was read of the line
	left   string // rest when the line began
}

// newLine begins a line.
func (s *scanner) newLine() { s.atLine, s.left = true, s.rest }

// step reads one token, comment or piece of layout.
func (s *scanner) step() {
	switch r, size := utf8.DecodeRuneInString(s.rest); {
	case r == '\n':
		s.rest = s.rest[1:]
		s.newLine()
	case unicode.IsSpace(r):
		s.rest = s.rest[size:]
	case s.comment():
	case strings.ContainsRune(s.quotes, r):
		s.token(s.quoted(r))
	case s.lexicon.regex && r == '/' && s.opensRegex():
		s.token(s.pattern())
	case wordRune(r):
		s.token(len(s.rest) - len(strings.TrimLeftFunc(s.rest, wordRune)))
	case len(s.rest) > 1 && slices.Contains(pairs, s.rest[:2]):
		s.token(2)
	default:
		s.token(size)
	}
}

// token takes the next n bytes as a token, after the line end before it, if there is one.
func (s *scanner) token(n int) {
	if s.atLine {
		indent := ""
		if s.indent {
			indent = s.left[:len(s.left)-len(s.rest)]
		}
		if len(s.found) > 0 || indent != "" {
			s.found = append(s.found, lineEnd+indent)
		}
	}
	s.atLine = false
	s.found = append(s.found, s.rest[:n])
	s.rest = s.rest[n:]
}

// pairs are operators of two signs. Their signs mean something else apart: "a - -b" is not "a--b".
var pairs = []string{"++", "--", "&&", "||", "**", "<<", ">>", "??", "?.", "->", "=>", "==", "!=", "<=", ">=", "+=", "-=",
	"*=", "/=", "%=", "&=", "|=", "^=", "::", "..", "//", ":=", "<-"}

func wordRune(r rune) bool {
	return r == '_' || r == '$' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// comment skips a comment, and reports whether there is one. The line end after it is left. A block comment with a
// line end in it counts as one, as it does in JavaScript.
func (s *scanner) comment() bool {
	for _, begin := range s.line {
		if strings.HasPrefix(s.rest, begin) {
			end := strings.IndexByte(s.rest, '\n')
			if end < 0 {
				end = len(s.rest)
			}
			s.rest = s.rest[end:]
			return true
		}
	}
	if s.block[0] == "" || !strings.HasPrefix(s.rest, s.block[0]) {
		return false
	}
	skipped, rest, _ := strings.Cut(s.rest[len(s.block[0]):], s.block[1])
	s.rest = rest
	if strings.Contains(skipped, "\n") {
		s.newLine()
	}
	return true
}

// quoted returns the length of the string at the beginning of rest.
func (s *scanner) quoted(quote rune) int {
	switch {
	case quote == '`' && s.regex:
		return template(s.rest)
	case quote == '`': // nothing is escaped in Go's
		if end := strings.IndexByte(s.rest[1:], '`'); end >= 0 {
			return end + 2
		}
		return len(s.rest)
	}
	end := string(quote)
	if triple := strings.Repeat(end, 3); strings.ContainsRune(s.triple, quote) && strings.HasPrefix(s.rest, triple) {
		end = triple
	}
	return stringLen(s.rest, end)
}

// stringLen returns the length of the string at the beginning of text, between two times end. One that does not end
// on its line ends there, unless it is in triple quotes.
func stringLen(text, end string) int {
	for i := len(end); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], end):
			return i + len(end)
		case text[i] == '\n' && len(end) == 1:
			return i
		}
	}
	return len(text)
}

// template returns the length of the JavaScript template at the beginning of text, with the code in it, in which
// templates may stand again.
func template(text string) int {
	open := []byte{'`'} // templates and braces
	for i := 1; i < len(text); i++ {
		c, code := text[i], open[len(open)-1] == '{'
		switch {
		case c == '\\':
			i++
		case code && (c == '"' || c == '\''):
			i += stringLen(text[i:], string(c)) - 1
		case code && (c == '{' || c == '`'):
			open = append(open, c)
		case !code && strings.HasPrefix(text[i:], "${"):
			open = append(open, '{')
			i++
		case code && c == '}', !code && c == '`':
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// opensRegex reports whether a "/" is where a value is expected, so that it begins a pattern and does not divide.
func (s *scanner) opensRegex() bool {
	if len(s.found) == 0 {
		return true
	}
	last := s.found[len(s.found)-1]
	return last == "return" || strings.HasPrefix(last, lineEnd) || strings.ContainsAny(last[len(last)-1:], "(,=:[!&|?{};+-*%<>~^")
}

// pattern returns the length of the regular expression at the beginning.
func (s *scanner) pattern() int {
	class := false
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\\':
			i++
		case c == '\n':
			return i
		case c == '[' || c == ']':
			class = c == '['
		case c == '/' && !class:
			return i + 1
		}
	}
	return len(s.rest)
}
