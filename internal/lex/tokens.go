package lex

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind is what a token is.
type Kind byte

const (
	Word     Kind = iota // a name or a keyword
	Number               // with what marks its type: "10n"
	String               // with its quotes, and also a template or a pattern as a whole
	Operator             // a sign, or two that belong together
	Comment              // a comment with its delimiters, without the end of its line
)

// A Token is a piece of a program.
type Token struct {
	Kind       Kind
	Begin, End int // its bytes
}

// Of returns the token's text in the program that it is of.
func (t Token) Of(program string) string { return program[t.Begin:t.End] }

// Tokens returns the tokens of a program. All that stands between them is white space. It takes time linear in the
// length of program, whatever that is.
func (l Language) Tokens(program string) []Token {
	s := scanner{Language: l, src: program}
	for s.pos < len(program) {
		s.step()
	}
	if len(s.open) > 0 { // a template that does not end
		s.open = nil
		s.add(String, s.outer, len(program))
	}
	return s.found
}

// A scanner reads tokens.
type scanner struct {
	Language
	src   string
	pos   int
	found []Token
	last  Token  // the last token but comments, also within a template; its End is 0 before the first
	open  []byte // the templates that are open, and the braces of code in them: '`' and '{'
	outer int    // where the outermost template began
	plain int    // where patterns may stand again
}

// step reads one token, or white space.
func (s *scanner) step() {
	if n := len(s.open); n > 0 && s.open[n-1] == '`' {
		s.template()
		return
	}
	rest := s.src[s.pos:]
	switch r, size := utf8.DecodeRuneInString(rest); {
	case unicode.IsSpace(r):
		s.pos += size
	case s.line != "" && strings.HasPrefix(rest, s.line):
		s.token(Comment, lengthTo(rest, "\n", 0))
	case s.block && strings.HasPrefix(rest, "/*"):
		s.token(Comment, lengthTo(rest[2:], "*/", 2)+2)
	case strings.ContainsRune(s.quotes, r):
		s.token(String, s.quoted(rest))
	case r == '`' && s.backtick == '\'':
		s.token(String, lengthTo(rest[1:], "`", 1)+1)
	case r == '`' && s.backtick == '$':
		s.enter('`')
	case isDigit(rest[0]) || r == '.' && len(rest) > 1 && isDigit(rest[1]) && !s.afterPoint():
		s.token(Number, numberLen(rest))
	case isName(r):
		s.token(Word, nameLen(rest))
	case r == '/' && s.regexp && s.pattern(rest):
	case s.pair(rest):
		s.token(Operator, 2)
	default:
		s.brace(r)
		s.token(Operator, size)
	}
}

// token takes the next n bytes as a token. What stands in a template is part of it.
func (s *scanner) token(kind Kind, n int) {
	s.add(kind, s.pos, s.pos+n)
	s.pos += n
}

func (s *scanner) add(kind Kind, begin, end int) {
	t := Token{kind, begin, end}
	if kind != Comment {
		s.last = t
	}
	if len(s.open) == 0 {
		s.found = append(s.found, t)
	}
}

// enter opens a template, or a brace in its code.
func (s *scanner) enter(kind byte) {
	if len(s.open) == 0 {
		s.outer = s.pos
	}
	s.open = append(s.open, kind)
	s.pos++
}

// template goes on in a template until it ends or code begins in it.
func (s *scanner) template() {
	for ; s.pos < len(s.src); s.pos++ {
		switch {
		case s.src[s.pos] == '\\':
			s.pos++
		case s.src[s.pos] == '`':
			s.pos++
			s.open = s.open[:len(s.open)-1]
			s.add(String, s.outer, s.pos)
			return
		case strings.HasPrefix(s.src[s.pos:], "${"):
			s.pos += 2
			s.open = append(s.open, '{')
			s.last = Token{Operator, s.pos - 1, s.pos}
			return
		}
	}
	s.pos = len(s.src)
}

// brace keeps count of the braces in a template's code.
func (s *scanner) brace(r rune) {
	switch n := len(s.open); {
	case n == 0:
	case r == '{':
		s.open = append(s.open, '{')
	case r == '}':
		s.open = s.open[:n-1]
	}
}

// afterPoint reports whether a point stands right before here, as in a range: 0..9.
func (s *scanner) afterPoint() bool {
	return s.last.Kind == Operator && s.last.End == s.pos && s.pos > 0 && s.src[s.pos-1] == '.'
}

// lengthTo returns the length of text up to end and more bytes, or all of it if end is not there.
func lengthTo(text, end string, more int) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + more
	}
	return len(text)
}

// quoted returns the length of the string at the beginning of text. One that is not in triple quotes
// ends with its line if nothing else ends it.
func (s *scanner) quoted(text string) int {
	end := text[:1]
	if strings.Contains(s.triple, end) && len(text) > 2 && text[1] == text[0] && text[2] == text[0] {
		end = text[:3]
	}
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

// pattern takes the regular expression at the beginning of text, if there is one: where an operand is expected, and it
// ends on its line. Where one does not end, none is looked for in the rest of the line, which would take quadratic
// time.
func (s *scanner) pattern(text string) bool {
	if s.pos < s.plain || endsOperand(s.src, s.last) && s.src[s.last.End-1] != '}' {
		return false
	}
	class, i := false, 1
	for ; i < len(text) && text[i] != '\n'; i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '[' || c == ']':
			class = c == '['
		case c == '/' && !class:
			s.token(String, i+1)
			return true
		}
	}
	s.plain = s.pos + i
	return false
}

// endsOperand reports whether t ends an operand, so that a minus after it subtracts, a slash divides and a bracket
// subscripts or calls.
func endsOperand(program string, t Token) bool {
	switch {
	case t.End == 0:
		return false
	case t.Kind == Word:
		return !IsKeyword(t.Of(program))
	case t.Kind == Operator:
		return strings.IndexByte(")]}", program[t.End-1]) >= 0
	}
	return true
}

// IsKeyword reports whether an operand follows name, as in "return -1".
func IsKeyword(name string) bool {
	switch name {
	case "return", "case", "in", "of", "and", "or", "not", "if", "elif", "else", "while", "yield", "await",
		"typeof", "delete", "void", "throw", "assert", "const", "let", "var", "do":
		return true
	}
	return false
}

// pairs are operators of two signs. Their signs mean something else apart: "a - -b" is not "a--b".
var pairs = []string{"++", "--", "&&", "||", "**", "<<", ">>", "??", "?.", "->", "=>", "==", "!=", "<=", ">=", "+=",
	"-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "..", "//", ":="}

// pair reports whether an operator of two signs stands at the beginning of text: not "?." in "a?.5:b".
func (s *scanner) pair(text string) bool {
	switch {
	case len(text) < 2 || strings.IndexByte("+-&|*<>?.=:/", text[1]) < 0:
		return false
	case text[:2] == "<-":
		return s.arrow
	case text[:2] == "?." && len(text) > 2 && isDigit(text[2]):
		return false
	}
	return slices.Contains(pairs, text[:2])
}

// numberLen returns the length of the number at the beginning of text, with its suffix.
func numberLen(text string) int {
	if isRadix(text) {
		return radixLen(text)
	}
	n := decimalLen(text)
	return n + nameLen(text[n:])
}

// isRadix reports whether a number is not decimal by how it begins.
func isRadix(text string) bool {
	return len(text) > 1 && text[0] == '0' && strings.IndexByte("xXbBoO", text[1]) >= 0
}

// radixLen returns the length of a number that is not decimal.
func radixLen(text string) int {
	for i := 1; i < len(text); i++ {
		c, last := text[i], text[i-1]
		exponent := (c == '+' || c == '-') && (last == 'p' || last == 'P')
		if c != '.' && !exponent && nameLen(text[i:]) == 0 {
			return i
		}
	}
	return len(text)
}

// decimalLen returns the length of a decimal number without its suffix.
func decimalLen(text string) int {
	n := digitsLen(text)
	if isPoint(text[n:]) {
		n += 1 + digitsLen(text[n+1:])
	}
	if e := exponentLen(text[n:]); e > 0 {
		n += e + digitsLen(text[n+e:])
	}
	return n
}

// digitsLen returns how many digits text begins with.
func digitsLen(text string) int {
	n := 0
	for n < len(text) && (isDigit(text[n]) || text[n] == '_') {
		n++
	}
	return n
}

// isPoint reports whether text begins with a decimal point: not a range (0..9), not a method (1.max(x)).
func isPoint(text string) bool {
	if text == "" || text[0] != '.' {
		return false
	}
	after, _ := utf8.DecodeRuneInString(text[1:])
	return len(text) == 1 || after != '.' && (!isName(after) || exponentLen(text[1:]) > 0)
}

// exponentLen returns how many bytes stand before the digits of an exponent, 0 if text begins with none.
func exponentLen(text string) int {
	if text == "" || text[0] != 'e' && text[0] != 'E' {
		return 0
	}
	n := 1
	if len(text) > 1 && (text[1] == '+' || text[1] == '-') {
		n = 2
	}
	if len(text) > n && isDigit(text[n]) {
		return n
	}
	return 0
}

// nameLen returns how many bytes of letters and digits text begins with.
func nameLen(text string) int {
	for i, r := range text {
		if !isName(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(text)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isName reports whether r may begin a name.
func isName(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }
