package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind is what a token is.
type Kind byte

const (
	Comment  Kind = iota // a comment with its delimiters, without the end of its line
	String               // with its quotes, and also a template with the code in it
	Number               // with what marks its type: "10n"
	Operator             // a sign, or two that belong together
	Word                 // a name or a keyword
)

const (
	number = `0[xXbBoO](?:[pP][+-]|[\pL\d_.])*|(?:\d[\d_]*(?:\.\d[\d_]*|\.)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[\pL\d_$]*`
	// operators of two signs, whose signs mean something else apart: "a - -b" is not "a--b".
	operators = `\+\+|--|&&|\|\||\*\*|<<|>>|\?\?|\?\.|->|=>|[=!<>+\-*/%&|^:]=|::|\.\.|//|<-|(?s:.)`
)

// A Token is a piece of a program.
type Token struct {
	Kind       Kind
	Begin, End int // its bytes
}

// Of returns the token's text in the program that it is of.
func (t Token) Of(program string) string { return program[t.Begin:t.End] }

// Tokens returns the tokens of a program. All that stands between them is white space. It takes time linear in the
// length of program, whatever that is. Patterns of JavaScript are operators and words, and a template ends at the next
// backtick, also in code in it.
func (l Language) Tokens(program string) (all []Token) {
	for at := 0; at < len(program); {
		r, size := utf8.DecodeRuneInString(program[at:])
		t := Token{Operator, at, at + size}
		switch {
		case unicode.IsSpace(r):
			at += size
			continue
		case isName(r):
			t.Kind = Word
			for t.End < len(program) && (isName(r) || unicode.IsDigit(r)) {
				t.End = at + size
				at = t.End
				r, size = utf8.DecodeRuneInString(program[at:])
			}
		case strings.IndexByte("()[]{},;", program[at]) < 0: // else most operators, without the expression
			t = l.match(program, at)
		}
		all, at = append(all, t), t.End
	}
	return all
}

// match returns the token at a place by the language's expression.
func (l Language) match(program string, at int) Token {
	m := l.tokens.FindStringSubmatchIndex(program[at:])
	t := Token{Comment, at, at + m[1]}
	for m[2*t.Kind+2] < 0 {
		t.Kind++
	}
	if t.Kind == Number && strings.HasSuffix(program[:t.End], ".") && strings.HasPrefix(program[t.End:], ".") {
		t.End-- // a range, 0..9
	}
	return t
}

// isName reports whether r may begin a name.
func isName(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }

// endsOperand reports whether t ends an operand, so that a minus after it subtracts and a bracket subscripts or calls.
func endsOperand(program string, t Token) bool {
	switch t.Kind {
	case Word:
		return !strings.Contains(keywords, " "+t.Of(program)+" ")
	case Operator:
		return strings.IndexByte(")]}", program[t.End-1]) >= 0
	}
	return true
}

// keywords are names that an operand follows, as in "return -1".
const keywords = " return case in of and or not if elif else while yield await typeof delete void throw assert const " +
	"let var do "
