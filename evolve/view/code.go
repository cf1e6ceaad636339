package view

import (
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// Bounds of colouring: the bytes of a text and of a line, and the time. A lexer searches for patterns again and again,
// and a candidate can make a text on which that takes hours.
const (
	mostColoured = 64 << 10
	longestLine  = 4 << 10
	colourTime   = 2 * time.Second
)

// shown caches the colours and diffs of programs, which take longer than a run should wait; it has a lock of its own.
type shown struct {
	mu    sync.Mutex
	codes map[string]programText
	size  int // bytes of text in codes
	diffs map[[2]string][]lineChange
	bases bases // set before use
}

// mostShown bounds the bytes of coloured programs in the cache.
const mostShown = 4 << 20

// code returns a text with its colours. Equal texts have equal keys, so they are coloured once.
func (s *shown) code(key, text, language string) programText {
	s.mu.Lock()
	code, ok := s.codes[key]
	s.mu.Unlock()
	if ok {
		return code
	}
	code = programText{text, colours(text, language)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size += len(text); s.size > mostShown {
		clear(s.codes)
		s.size = len(text)
	}
	s.codes[key] = code
	return code
}

// colours returns the runs of a text (see programText), or nil if the text is too long or its language unknown.
func colours(text, language string) []int {
	lexer := lexerOf(language)
	if lexer == nil {
		lexer = lexerOf(guess(text))
	}
	if lexer == nil || text == "" || len(text) > mostColoured || hasLongLine(text) {
		return nil
	}
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var runs []int
	rest := text
	for end := time.Now().Add(colourTime); time.Now().Before(end); {
		token := tokens()
		if token == chroma.EOF {
			break
		}
		value := token.Value
		if value == rest+"\n" {
			value = rest // the lexer ended the last line
		}
		if !strings.HasPrefix(rest, value) {
			break // the lexer changed the text
		}
		rest = rest[len(value):]
		runs = appendRun(runs, value, class(token.Type))
	}
	return appendRun(runs, rest, tokenPlain)
}

// appendRun appends text of a class, joining neighbours of one class to one run.
func appendRun(runs []int, text string, class int) []int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	switch last := len(runs) - 1; {
	case n == 0:
	case last > 0 && runs[last] == class:
		runs[last-1] += n
	default:
		runs = append(runs, n, class)
	}
	return runs
}

func hasLongLine(text string) bool {
	for line := range strings.Lines(text) {
		if len(line) > longestLine {
			return true
		}
	}
	return false
}

// class returns the class of a token.
func class(t chroma.TokenType) int {
	switch {
	case t.InCategory(chroma.Keyword):
		return tokenKeyword
	case t.InSubCategory(chroma.LiteralString):
		return tokenString
	case t.InSubCategory(chroma.LiteralNumber):
		return tokenNumber
	case t.InCategory(chroma.Comment):
		return tokenComment
	case t == chroma.NameFunction, t == chroma.NameClass:
		return tokenFunction
	case t.InSubCategory(chroma.NameBuiltin):
		return tokenBuiltin
	case t.InCategory(chroma.Operator):
		return tokenOperator
	}
	return tokenPlain
}

// lexerOf returns the lexer of a language, or nil.
func lexerOf(language string) chroma.Lexer {
	if language == "" || !utf8.ValidString(language) {
		return nil
	}
	return lexers.Get(language)
}

// guess guesses the language of a text by words that begin lines in only one language.
func guess(text string) string {
	for _, g := range []struct{ begins, language string }{
		{"package ", "go"}, {"#include", "c++"}, {"def ", "python"}, {"import ", "python"}, {"from ", "python"},
		{"class ", "python"},
		{"function ", "javascript"}, {"const ", "javascript"}, {"let ", "javascript"}, {"var ", "javascript"},
		{"fn ", "rust"},
	} {
		if strings.HasPrefix(text, g.begins) || strings.Contains(text, "\n"+g.begins) {
			return g.language
		}
	}
	return ""
}
