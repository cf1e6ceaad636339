package tune

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// A Number is a number in the text of a program, and how it may be changed.
type Number struct {
	// Begin and End are its bytes in the program. A minus before it is among them if it is its sign.
	Begin, End int
	Value      float64
	Integer    bool // it has to stay an integer
	// Lo and Hi bound it; both 0 means that its value decides the scale and nothing bounds it. From a Lo above 0 to
	// a Hi of ten times that or more, it is searched in the logarithm.
	Lo, Hi float64
	// Text writes a value; nil means in decimal, with nine digits if it is a real number.
	Text func(v float64) string

	literal lex.Literal // where it was found by Parameters
}

// Parameters returns the numbers of a program that may be tuned, in their order. language is a name that models tag
// blocks with, such as "go" or "python", and decides what is a comment or a string; one that is not known is taken for
// one like C.
//
// If a comment that its line ends begins with "tune:", the numbers on such lines alone are parameters:
//
//	width = 0.3   # tune: 0.1..3
//	block = 64    // tune: 8..4096
//	rate = 0.01   # tune:
//	gone = 1.5    # tune: off
//
// Without bounds, a number's own size is its scale. "off" takes the numbers of the line out, and leaves those of other
// lines in. Else all decimal numbers are parameters but for the integers 0 and 1, and the ones in subscripts. Numbers
// in hexadecimal, in strings and in comments are left alone.
func Parameters(program, language string) []Number {
	lang := lex.Likely(language, program)
	marks := marksOf(program, lang)
	only := slices.ContainsFunc(marks, func(m mark) bool { return !m.off })
	var list []Number
	for _, l := range lang.Literals(program) {
		n := Number{Begin: l.Begin, End: l.End, Value: l.Value, Integer: l.Integer, literal: l}
		m, marked := markAt(marks, l.Begin)
		switch {
		case marked && m.off:
		case marked:
			n.Lo, n.Hi = m.lo, m.hi
			list = append(list, n)
		case only:
		case l.Role == lex.Index || l.Integer && math.Abs(l.Value) <= 1:
		default:
			list = append(list, n)
		}
	}
	return list
}

// A mark is what a comment says of the numbers on its line.
type mark struct {
	begin, end int // the line
	lo, hi     float64
	off        bool
}

// marked is what a comment looks like that marks its line.
var marked = regexp.MustCompile(`^(?://|#|--)\s*tune:\s*(off\b|([-+.0-9eE_]+?)\s*\.\.\s*([-+.0-9eE_]+))?`)

// marksOf returns the marks of a program, in order. Bounds that make no sense are no bounds.
func marksOf(program string, lang lex.Language) (marks []mark) {
	for _, c := range lang.Tokens(program) {
		found := marked.FindStringSubmatch(c.Of(program))
		if c.Kind != lex.Comment || found == nil {
			continue
		}
		m := mark{begin: strings.LastIndexByte(program[:c.Begin], '\n') + 1, end: c.Begin, off: found[1] == "off"}
		lo, badLo := strconv.ParseFloat(strings.ReplaceAll(found[2], "_", ""), 64)
		hi, badHi := strconv.ParseFloat(strings.ReplaceAll(found[3], "_", ""), 64)
		if badLo == nil && badHi == nil && lo < hi && !math.IsInf(hi-lo, 0) {
			m.lo, m.hi = lo, hi
		}
		marks = append(marks, m)
	}
	return marks
}

// markAt returns the mark of the line that the byte at is on.
func markAt(marks []mark, at int) (mark, bool) {
	i, _ := slices.BinarySearchFunc(marks, at, func(m mark, at int) int { return m.end - at })
	if i < len(marks) && marks[i].begin <= at {
		return marks[i], true
	}
	return mark{}, false
}

// draw returns at most n of the numbers, in their order.
func draw(list []Number, n int, r *rand.Rand) []Number {
	if len(list) <= n {
		return list
	}
	chosen := r.Perm(len(list))[:n]
	slices.Sort(chosen)
	kept := make([]Number, n)
	for i, at := range chosen {
		kept[i] = list[at]
	}
	return kept
}

// rewrite returns program with these values for its numbers. A number whose value is the one that it has stays as it is
// written, to the byte.
func rewrite(program string, list []Number, values []float64) string {
	var b strings.Builder
	at := 0
	for i, n := range list {
		if values[i] == n.Value {
			continue
		}
		b.WriteString(program[at:n.Begin])
		b.WriteString(n.text(program, values[i]))
		at = n.End
	}
	b.WriteString(program[at:])
	return b.String()
}

// text writes the value v of a number.
func (n Number) text(program string, v float64) string {
	if n.Text != nil {
		return n.Text(v)
	}
	l := n.literal
	if l.End == 0 {
		l = lex.Literal{Integer: n.Integer, Bare: true}
	}
	l.Value = v
	return l.Text()
}
