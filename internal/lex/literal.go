package lex

import (
	"regexp"
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
	Bare       bool // whether a minus may stand before it without parentheses
}

// Literals returns the numbers in program that may be changed, in order: decimal ones, outside strings and comments.
func (l Language) Literals(program string) []Literal {
	r := literalReader{src: program, open: []bracket{{}}}
	r.tokens = slices.DeleteFunc(l.Tokens(program), func(t Token) bool { return t.Kind == Comment })
	for i, t := range r.tokens {
		switch t.Kind {
		case Number:
			r.number(i)
		case Operator:
			r.bracket(i)
		}
	}
	return r.found
}

// A literalReader goes through the tokens of a program and keeps the brackets that are open.
type literalReader struct {
	src    string
	tokens []Token   // without comments
	open   []bracket // the first stands for none
	found  []Literal
}

// A bracket is one that is open.
type bracket struct {
	kind byte // '[', '(' or '{'; 0: none
	call bool // whether it follows an operand: a subscript or a call
	list bool // whether it holds a list
}

// bracket follows the brackets. What stands in parentheses that call nothing is a list, unless it is itself the
// argument of a call: the shape in zeros((11, 2)) is none.
func (r *literalReader) bracket(i int) {
	switch c := r.src[r.tokens[i].Begin]; c {
	case '[', '(', '{':
		call, in := r.operandBefore(i), r.open[len(r.open)-1]
		shape := c == '(' && in.kind == '(' && in.call
		r.open = append(r.open, bracket{c, call, (c == '{' || !call) && !shape})
	case ']', ')', '}':
		r.open = r.open[:max(1, len(r.open)-1)]
	}
}

// operandBefore reports whether an operand ends before token i.
func (r *literalReader) operandBefore(i int) bool { return i > 0 && endsOperand(r.src, r.tokens[i-1]) }

// number adds the number that token i is, if it may be changed. A minus that touches it is its sign, but not in "a-1"
// nor in "return-1".
func (r *literalReader) number(i int) {
	t := r.tokens[i]
	l := Literal{Begin: t.Begin, End: t.End}
	if !l.read(t.Of(r.src)) {
		return
	}
	before := r.src[:t.Begin]
	signed := strings.HasSuffix(before, "-") && r.tokens[i-1].Of(r.src) == "-" && !r.operandBefore(i-1) &&
		(i == 1 || r.tokens[i-2].Kind != Word || r.tokens[i-2].End < t.Begin-1)
	if signed {
		l.Begin, l.Value = l.Begin-1, -l.Value
	}
	before, after := strings.TrimRight(r.src[:l.Begin], space), strings.TrimLeft(r.src[l.End:], space)
	l.Bare = signed || before == "" || strings.IndexByte("([{,=:;", before[len(before)-1]) >= 0
	switch in := r.open[len(r.open)-1]; {
	case !l.Integer:
		l.Role = Quantity
	case in.kind == '[' && in.call:
		l.Role = Index
	case in.list && strings.IndexByte("[{(,", before[len(before)-1]) >= 0 && after != "" &&
		strings.IndexByte(",]})", after[0]) >= 0:
		l.Role = Element
	default:
		l.Role = Count
	}
	r.found = append(r.found, l)
}

const space = " \t\r\n"

// decimal matches a decimal number, and what follows it.
var decimal = regexp.MustCompile(`^([\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d[\d_]*)?)(.*)$`)

// read fills in what the text of a number says, and reports whether it may be changed: it is decimal, a float64 holds
// it exactly if it is an integer, and its suffix is known.
func (l *Literal) read(text string) bool {
	m := decimal.FindStringSubmatch(text)
	l.Suffix = m[2]
	l.Integer = !strings.ContainsAny(m[1], ".eE")
	var err error
	l.Value, err = strconv.ParseFloat(strings.ReplaceAll(m[1], "_", ""), 64)
	octal := l.Integer && len(m[1]) > 1 && m[1][0] == '0'
	big := l.Integer && l.Value >= 1<<53
	return err == nil && !octal && !big && slices.Contains(suffixes, l.Suffix)
}

// suffixes are what may follow a number to mark its type, in one language or another.
var suffixes = []string{"", "n", "f", "F", "d", "D", "i", "j", "J", "l", "L", "u", "U", "ul", "UL",
	"f32", "f64", "i32", "i64", "u8", "u32", "u64", "usize"}
