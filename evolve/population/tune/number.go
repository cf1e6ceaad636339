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

// A number is a number in the text of a program, and how it may be changed.
type number struct {
	// Begin and End are its bytes in the program. A minus before it is among them if it is its sign.
	Begin, End int
	Value      float64
	Integer    bool // it has to stay an integer
	// Lo and Hi bound it; both 0 means that its value decides the scale and nothing bounds it. From a Lo above 0 to
	// a Hi of ten times that or more, it is searched in the logarithm.
	Lo, Hi float64

	literal lex.Literal
}

// parameters returns the numbers of a program that may be tuned, in their order. language is a name that models tag
// blocks with, such as "go" or "python", and decides what is a comment or a string; one that is not known is taken for
// one like C.
func parameters(program, language string) []number {
	lang := lex.Likely(language, program)
	marks := marksOf(program, lang)
	only := slices.ContainsFunc(marks, func(m mark) bool { return !m.off })
	var list []number
	for _, l := range lang.Literals(program) {
		n := number{Begin: l.Begin, End: l.End, Value: l.Value, Integer: l.Integer, literal: l}
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
func draw(list []number, n int, r *rand.Rand) []number {
	if len(list) <= n {
		return list
	}
	chosen := r.Perm(len(list))[:n]
	slices.Sort(chosen)
	kept := make([]number, n)
	for i, at := range chosen {
		kept[i] = list[at]
	}
	return kept
}

// rewrite returns program with these values for its numbers. A number whose value is the one that it has stays as it is
// written, to the byte.
func rewrite(program string, list []number, values []float64) string {
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
func (n number) text(program string, v float64) string {
	l := n.literal
	l.Value = v
	return l.Text()
}
