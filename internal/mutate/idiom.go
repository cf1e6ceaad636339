package mutate

import (
	"fmt"
	"regexp"
	"strings"
)

// A Bias says which edits of structure are drawn. Its zero value draws any.
type Bias struct {
	Bold    bool // three edits and more, in place of one and more
	Simpler bool // only edits that take something out
	Prefer  uint // idioms to use alone, a bit each in the order of [Idioms]; 0: any
	Avoid   uint // idioms not to use
}

// allows reports whether the k-th idiom may be used.
func (b Bias) allows(k int) bool {
	if b.Prefer != 0 {
		return b.Prefer>>k&1 == 1
	}
	return b.Avoid>>k&1 == 0
}

// An idiom is a way to make an expression of others, which has a name in English.
type idiom struct {
	name   string
	weight float64 // how readily it is used
	format string  // of the expression it is applied to, another one, and a condition
}

// unary reports whether i takes one expression.
func (i idiom) unary() bool { return !strings.Contains(i.format, "[2]") }

// idioms are those that new expressions are made with. None is of one task.
var idioms = []idiom{
	{"a condition", 4, "%[3]s ? %[1]s : %[2]s"},
	{"a difference", 3, "%[1]s - %[2]s"},
	{"a sum", 2, "%[1]s + %[2]s"},
	{"a product", 2, "%[1]s * %[2]s"},
	{"a ratio", 2, "%[1]s / %[2]s"},
	{"a minimum", 1, "Math.min(%[1]s, %[2]s)"},
	{"a maximum", 1, "Math.max(%[1]s, %[2]s)"},
	{"an absolute value", 1, "Math.abs(%[1]s)"},
	{"a square root", 0.5, "Math.sqrt(%[1]s)"},
	{"an exponential", 0.5, "Math.exp(%[1]s)"},
	{"a logarithm", 0.5, "Math.log(%[1]s)"},
	{"a power", 0.5, "Math.pow(%[1]s, %[2]s)"},
}

// Idioms returns the names of the ways in which new expressions are made of others, such as "a ratio".
func Idioms() (names []string) {
	for _, i := range idioms {
		names = append(names, i.name)
	}
	return names
}

// pickIdiom draws one by weight, of those that b prefers if it prefers any, and of none that it avoids unless it
// avoids all.
func pickIdiom(d Draw, b Bias) idiom {
	var fit []idiom
	sum := 0.0
	for k, i := range idioms {
		if b.allows(k) {
			fit = append(fit, i)
			sum += i.weight
		}
	}
	u := sum * d.Float64()
	for _, i := range fit {
		if u -= i.weight; u < 0 {
			return i
		}
	}
	return idioms[0]
}

// A grower makes expressions that are new to a program.
type grower struct {
	Draw
	bias    Bias
	numbers []string // the program's own
}

// defaults are numbers that come to mind first. What is new has such numbers, so that it is mostly worse than what
// it takes the place of until they are tuned.
var defaults = []string{"0", "1", "2", "3", "5", "10", "20", "100", "0.1", "0.5"}

// leaf is a variable, mostly, or a number.
func (g grower) leaf(names []string) string {
	switch {
	case len(names) > 0 && g.Chance(0.6):
		return g.One(names)
	case len(g.numbers) > 0 && g.Chance(0.3):
		return g.One(g.numbers)
	}
	return g.One(defaults)
}

// value is an expression of at most so many levels.
func (g grower) value(names []string, levels int) string {
	if levels == 0 || g.Chance(0.2) {
		return g.leaf(names)
	}
	return g.apply(pickIdiom(g.Draw, g.bias), g.value(names, levels-1), names, levels-1)
}

// apply makes an expression of idiom i and e.
func (g grower) apply(i idiom, e string, names []string, levels int) string {
	if i.unary() {
		return fmt.Sprintf(i.format, e)
	}
	other, test := g.value(names, levels), g.test(names)
	if g.Chance(0.5) {
		e, other = other, e
	}
	return fmt.Sprintf(i.format, operand(e), operand(other), test)
}

// test is a condition: a variable, or the difference of two, against another or a number.
func (g grower) test(names []string) string {
	left := g.leaf(names)
	if len(names) > 0 {
		a := g.IntN(len(names))
		left = names[a]
		if len(names) > 1 && g.Chance(0.5) {
			left += " - " + names[(a+1+g.IntN(len(names)-1))%len(names)]
		}
	}
	return left + " " + g.One(comparisons) + " " + g.leaf(names)
}

var comparisons = []string{"<", ">", "<=", ">="}

// whole matches what needs no parentheses inside an expression.
var whole = regexp.MustCompile(`^[\w.]+(\([^()]*\))?$`)

// operand returns e as it may stand inside an expression.
func operand(e string) string {
	if whole.MatchString(e) {
		return e
	}
	return "(" + e + ")"
}
