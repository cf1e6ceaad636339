package offline

import (
	"fmt"
	"regexp"
	"strings"
)

// An idiom is a way to make an expression of others, which has a name in English.
type idiom struct {
	name   string
	weight float64 // how readily it is used
	spoken *regexp.Regexp
	code   *regexp.Regexp
	format string // of the expression it is applied to, another one, and a condition
	unary  bool   // whether it takes one expression
}

// idioms are those that the model knows. None is of one task.
var idioms = []idiom{
	newIdiom("a condition", 4, `conditions?\b|conditional|\bbranch|\bthreshold`, `\?[^.?]|\bif\b`, "%[3]s ? %[1]s : %[2]s"),
	newIdiom("a difference", 3, `differences?\b|subtract`, `[\w)\]] - `, "%[1]s - %[2]s"),
	newIdiom("a sum", 2, `\bsums?\b|\badd(ing|s)?\b`, `\+`, "%[1]s + %[2]s"),
	newIdiom("a product", 2, `\bproducts?\b|multipl`, `\*`, "%[1]s * %[2]s"),
	newIdiom("a ratio", 2, `\bratios?\b|\bdivi(d|s)`, `[\w)\]] / `, "%[1]s / %[2]s"),
	newIdiom("a minimum", 1, `\bminimum\b|Math\.min`, `Math\.min`, "Math.min(%[1]s, %[2]s)"),
	newIdiom("a maximum", 1, `\bmaximum\b|Math\.max`, `Math\.max`, "Math.max(%[1]s, %[2]s)"),
	newIdiom("an absolute value", 1, `\babsolute|Math\.abs`, `Math\.abs`, "Math.abs(%[1]s)"),
	newIdiom("a square root", 0.5, `\bsquare roots?\b|Math\.sqrt`, `Math\.sqrt`, "Math.sqrt(%[1]s)"),
	newIdiom("an exponential", 0.5, `\bexponential|Math\.exp`, `Math\.exp`, "Math.exp(%[1]s)"),
	newIdiom("a logarithm", 0.5, `\blogarithm|Math\.log`, `Math\.log`, "Math.log(%[1]s)"),
	newIdiom("a power", 0.5, `\bpowers?\b|Math\.pow`, `Math\.pow|\*\*`, "Math.pow(%[1]s, %[2]s)"),
}

func newIdiom(name string, weight float64, spoken, code, format string) idiom {
	return idiom{name, weight, regexp.MustCompile("(?i)" + spoken), regexp.MustCompile(code), format, !strings.Contains(format, "[2]")}
}

// pickIdiom draws one by weight, of those that want prefers if it prefers any, and of none that it avoids unless it
// avoids all.
func pickIdiom(d draw, want wish) idiom {
	var fit []idiom
	sum := 0.0
	for k, i := range idioms {
		if want.allows(k) {
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
	draw
	want    wish
	numbers []string // the program's own
}

// defaults are numbers that come to mind first. What is new has such numbers, so that it is mostly worse than what
// it takes the place of until they are tuned.
var defaults = []string{"0", "1", "2", "3", "5", "10", "20", "100", "0.1", "0.5"}

// leaf is a variable, mostly, or a number.
func (g grower) leaf(names []string) string {
	switch {
	case len(names) > 0 && g.chance(0.6):
		return names[g.IntN(len(names))]
	case len(g.numbers) > 0 && g.chance(0.3):
		return g.numbers[g.IntN(len(g.numbers))]
	}
	return defaults[g.IntN(len(defaults))]
}

// value is an expression of at most so many levels.
func (g grower) value(names []string, levels int) string {
	if levels == 0 || g.chance(0.2) {
		return g.leaf(names)
	}
	return g.apply(pickIdiom(g.draw, g.want), g.value(names, levels-1), names, levels-1)
}

// apply makes an expression of idiom i and e.
func (g grower) apply(i idiom, e string, names []string, levels int) string {
	if i.unary {
		return fmt.Sprintf(i.format, e)
	}
	other, test := g.value(names, levels), g.test(names)
	if g.chance(0.5) {
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
		if len(names) > 1 && g.chance(0.5) {
			left += " - " + names[(a+1+g.IntN(len(names)-1))%len(names)]
		}
	}
	return left + " " + comparisons[g.IntN(len(comparisons))] + " " + g.leaf(names)
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
