package lex

import (
	"math"
	"strconv"
	"strings"
)

// Rewrite returns program with the literals of before written as those of after where they differ.
func Rewrite(program string, before, after []Literal) string {
	var b strings.Builder
	b.Grow(len(program) + 8*len(before))
	at := 0
	for i, l := range after {
		if l.Value == before[i].Value && l.Integer == before[i].Integer {
			continue
		}
		b.WriteString(program[at:l.Begin])
		b.WriteString(l.Text())
		at = l.End
	}
	b.WriteString(program[at:])
	return b.String()
}

// Text writes l where a number stood, so that it stays an integer or a real number in any language, with nine
// significant digits. A negative number goes into parentheses where a minus before it could be taken for an operator.
func (l Literal) Text() string {
	s := strconv.FormatFloat(math.Abs(l.Value), 'f', 0, 64)
	if !l.Integer {
		s = strconv.FormatFloat(math.Abs(l.Value), 'g', 9, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
	}
	s += l.Suffix
	switch {
	case l.Value < 0 && l.Bare:
		return "-" + s
	case l.Value < 0:
		return "(-" + s + ")"
	}
	return s
}
