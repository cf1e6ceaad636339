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
		b.WriteString(l.Text(program[l.Begin] == '-'))
		at = l.End
	}
	b.WriteString(program[at:])
	return b.String()
}

// Text writes l where a number stood, which had a minus of its own if signed. A negative number goes
// into parentheses where a minus before it could be taken for an operator, and the sign stays, as a
// plus, where the number would run into the word before it ("return-1").
func (l Literal) Text(signed bool) string {
	s := magnitude(math.Abs(l.Value), l.Integer) + l.Suffix
	switch {
	case l.Value < 0 && l.Bare:
		return "-" + s
	case l.Value < 0:
		return "(-" + s + ")"
	case signed && l.Glued:
		return "+" + s
	}
	return s
}

// digits is how many significant ones a changed real number is written with.
const digits = 9

// magnitude writes v, which is not negative, so that it stays an integer or a real number in any
// language.
func magnitude(v float64, integer bool) string {
	if integer {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		rounded = v // beyond the range of float64 after rounding up; written in full
	}
	if rounded != 0 && (rounded < 1e-6 || rounded >= 1e15) {
		return strconv.FormatFloat(rounded, 'e', -1, 64)
	}
	s := strconv.FormatFloat(rounded, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
