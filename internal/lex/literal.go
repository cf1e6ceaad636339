package lex

import (
	"slices"
	"strconv"
	"strings"
)

// A Role is what a literal seems to be for.
type Role int

const (
	Quantity Role = iota // a real number
	Element              // an integer in a list of numbers
	Count                // an integer elsewhere: a size, a bound, a factor
	Index                // an integer in a subscript
)

// A Literal is one decimal number in a program.
type Literal struct {
	Begin, End int // its bytes, with the minus before it if that is its sign
	Value      float64
	Integer    bool
	Suffix     string // what marks its type: the "n" of "10n"
	Role       Role
	Column     int  // its place in the innermost list, -1 outside lists
	Bare       bool // whether a minus may stand before it without parentheses
	Glued      bool // whether a letter or digit stands right before it, so that its sign must stay
}

// Literals returns the numbers in program that may be changed, in order: decimal ones, outside strings and comments.
func (l Language) Literals(program string) []Literal {
	r := literalReader{src: program, lang: l, tokens: withoutComments(l.Tokens(program))}
	for i, t := range r.tokens {
		switch t.Kind {
		case Number:
			r.number(i)
		case Operator:
			r.sign(i)
		}
	}
	return r.found
}

func withoutComments(list []Token) []Token {
	return slices.DeleteFunc(list, func(t Token) bool { return t.Kind == Comment })
}

// Openers returns where brackets open in program's code.
func (l Language) Openers(program string) (at []int) {
	for _, t := range l.Tokens(program) {
		if t.Kind == Operator && strings.IndexByte("[({", program[t.Begin]) >= 0 {
			at = append(at, t.Begin)
		}
	}
	return at
}

// A literalReader goes through the tokens of a program and keeps the brackets that are open.
type literalReader struct {
	src    string
	lang   Language
	tokens []Token // without comments
	open   []bracket
	found  []Literal
}

// A bracket is one that is open.
type bracket struct {
	kind   byte // '[', '(' or '{'; 0: none
	list   bool // whether it holds a list
	call   bool // whether it follows an operand: a subscript or a call
	column int  // commas so far
}

// sign follows the brackets and commas.
func (r *literalReader) sign(i int) {
	switch c := r.src[r.tokens[i].Begin]; c {
	case ',':
		if n := len(r.open); n > 0 {
			r.open[n-1].column++
		}
	case '[', '(', '{':
		r.enter(c, r.operandBefore(i))
	case ']', ')', '}':
		if n := len(r.open); n > 0 && opening[c] == r.open[n-1].kind {
			r.open = r.open[:n-1]
		}
	}
}

// opening is the bracket that each closing one closes.
var opening = [256]byte{']': '[', ')': '(', '}': '{'}

// enter opens a bracket. What stands in parentheses that call nothing is a list, unless it is itself the argument of a
// call: the shape in zeros((11, 2)) is none.
func (r *literalReader) enter(c byte, operand bool) {
	b := bracket{kind: c, call: operand, list: c == '{' || !operand}
	if n := len(r.open); c == '(' && n > 0 && r.open[n-1].kind == '(' && r.open[n-1].call {
		b.list = false
	}
	r.open = append(r.open, b)
}

// operandBefore reports whether an operand ends before token i, perhaps with ++ or -- after it.
func (r *literalReader) operandBefore(i int) bool {
	for i--; i >= 0 && (r.is(i, "++") || r.is(i, "--")); i-- {
	}
	return i >= 0 && endsOperand(r.src, r.tokens[i])
}

func (r *literalReader) is(i int, text string) bool { return i >= 0 && r.tokens[i].Of(r.src) == text }

// number adds the number that token i is, if it may be changed.
func (r *literalReader) number(i int) {
	t := r.tokens[i]
	l := Literal{Begin: t.Begin, End: t.End, Column: -1}
	before := i - 1
	signed := r.is(before, "-") && r.tokens[before].End == t.Begin && !r.operandBefore(before)
	if signed {
		l.Begin = r.tokens[before].Begin
		before--
	}
	if !l.read(t.Of(r.src)) {
		return
	}
	if signed {
		l.Value = -l.Value
	}
	l.Glued = before >= 0 && r.tokens[before].End == l.Begin && r.tokens[before].Kind <= Number
	if l.Glued && !signed {
		return
	}
	prev, next := r.edge(before, true), r.edge(i+1, false)
	l.Bare = signed || strings.IndexByte("([{,=:;k\x00", prev) >= 0
	var in bracket
	if n := len(r.open); n > 0 {
		if in = r.open[n-1]; in.list {
			l.Column = in.column
		}
	}
	l.Role = r.role(l, in, prev, next)
	r.found = append(r.found, l)
}

// edge returns the last or first byte of token i if it is an operator; 'k' for a keyword, 'a' for another operand and 0
// for a token that is not there.
func (r *literalReader) edge(i int, last bool) byte {
	if i < 0 || i >= len(r.tokens) {
		return 0
	}
	switch t := r.tokens[i]; {
	case t.Kind == Operator && last:
		return r.src[t.End-1]
	case t.Kind == Operator:
		return r.src[t.Begin]
	case !endsOperand(r.src, t):
		return 'k'
	}
	return 'a'
}

// role returns what l is for by the bracket that it is in and what stands before and after it.
func (r *literalReader) role(l Literal, in bracket, prev, next byte) Role {
	switch {
	case !l.Integer:
		return Quantity
	case in.kind == '[' && in.call:
		return Index
	case r.lang.types && prev == '[' && next == ']':
		return Count
	case prev == '(' && next == ')':
		return Count
	case in.list && strings.IndexByte("[{(,", prev) >= 0 && strings.IndexByte(",]})", next) >= 0:
		return Element
	}
	return Count
}

// read fills in what the text of a number says, and reports whether it may be changed: it is decimal, a float64 holds
// it exactly if it is an integer, and its suffix is known.
func (l *Literal) read(text string) bool {
	if isRadix(text) {
		return false
	}
	decimal := text[:decimalLen(text)]
	l.Suffix = text[len(decimal):]
	l.Integer = !strings.ContainsAny(decimal, ".eE")
	var err error
	l.Value, err = strconv.ParseFloat(strings.ReplaceAll(decimal, "_", ""), 64)
	octal := l.Integer && len(decimal) > 1 && decimal[0] == '0'
	big := l.Integer && l.Value >= 1<<53
	return err == nil && !octal && !big && slices.Contains(suffixes, l.Suffix)
}

// suffixes are what may follow a number to mark its type, in one language or another.
var suffixes = []string{"", "n", "f", "F", "d", "D", "i", "j", "J", "l", "L", "u", "U", "ul", "UL",
	"f32", "f64", "i32", "i64", "u8", "u32", "u64", "usize"}
