package mutate

import (
	"cmp"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// Numbers returns program with some of its numbers changed; all else is as it was, to the byte.
//
// How many are changed, and by how much, is heavy-tailed: mostly one, sometimes several or all, by steps whose scale is
// drawn over three orders of magnitude, relative to the number or absolute, normal or Cauchy. Integers mostly stay
// integers, as they often count things. Those that stand in lists of numbers are changed more readily, and zeros among
// them become real.
//
// A temper keeps to a part of that. Small and Large take the small and the large steps alone, and Splicing sets numbers to
// others of the program.
func Numbers(program string, syn lex.Language, d Draw, temper Temper) string {
	before := syn.Literals(program)
	if len(before) == 0 {
		return program
	}
	e := editor{Draw: d, now: slices.Clone(before)}
	size, unit, relative, noise := e.scale(3), e.unit(), e.Chance(0.4), e.NormFloat64
	switch temper {
	case Small:
		size = math.Pow(size, 0.5) / 100
	case Large:
		size = math.Pow(size, 1.0/3)
	}
	if e.Chance(0.5) {
		noise = func() float64 { return min(max(math.Tan(math.Pi*(e.Float64()-0.5)), -20), 20) }
	}
	picked, other, blank := e.pick(), size, unit == 0 && e.Chance(0.6)
	if blank { // points that are all one score nothing, and so do they while all but one are
		picked, noise, size, other = e.free(), e.Float64, e.scale(1), e.scale(1)
	}
	unit = cmp.Or(unit, 1)
	for _, i := range picked {
		size, other = other, size // so that points spread differently along their two axes
		switch l := e.now[i]; {
		case l.Integer && !blank && !e.Chance(turnReal[l.Role]):
			e.set(i, e.stepInteger(l))
		case temper == Splicing, !l.Integer && e.Chance(0.05):
			e.set(i, before[e.IntN(len(before))].Value)
		case relative && l.Value != 0:
			e.set(i, l.Value*math.Exp(size*noise()))
		default:
			e.set(i, l.Value+unit*size*noise())
		}
	}
	return lex.Rewrite(program, before, e.now)
}

// A Temper is how bold changes are; "" means of every kind.
type Temper string

// The tempers.
const (
	Small    Temper = "small"
	Large    Temper = "large"
	Splicing Temper = "splice"
)

// An editor changes the numbers of one program.
type editor struct {
	Draw
	now []lex.Literal
}

// scale is 10^-u for u uniform on [0, decades): every order of magnitude is as likely as another.
func (e *editor) scale(decades float64) float64 { return math.Pow(10, -decades*e.Float64()) }

// free returns the numbers that are real or in lists.
func (e *editor) free() (all []int) {
	for i, l := range e.now {
		if l.Role <= lex.Element {
			all = append(all, i)
		}
	}
	return all
}

// unit returns the mean size of the numbers that are free; 0 if all are zero.
func (e *editor) unit() (mean float64) {
	free := e.free()
	for _, i := range free {
		mean += math.Abs(e.now[i].Value) / float64(len(free))
	}
	return mean
}

// weights say how likely a number of each role is changed.
var weights = [...]float64{lex.Quantity: 1, lex.Element: 0.5, lex.Count: 0.08, lex.Index: 0.01}

// turnReal says how likely an integer becomes a real number: hardly ever, but a zero in a list often stands where no
// number is chosen yet.
var turnReal = [...]float64{lex.Element: 0.2, lex.Count: 0.01, lex.Index: 0}

// pick returns the numbers to change: one in half of all draws, all that are real or in lists in a tenth, and otherwise
// more than k with chance 1/(k−1), from two on. Several are neighbours, or drawn by weight.
func (e *editor) pick() (picked []int) {
	k := 1
	switch u := e.Float64(); {
	case u < 0.1:
		return e.free()
	case u > 0.6:
		k = int(min(1+1/(1-e.Float64()), float64(len(e.now))))
	}
	next := 1
	if e.Chance(0.5) {
		next = len(e.now) // any other
	}
	for at := e.IntN(len(e.now)); len(picked) < k; at = (at + 1 + e.IntN(next)) % len(e.now) {
		if e.Chance(weights[e.now[at].Role]) {
			picked = append(picked, at)
		}
	}
	return picked
}

// stepInteger returns the integer l moved: mostly by one or two, a large one by some part of it. Only an element of a
// list changes sign.
func (e *editor) stepInteger(l lex.Literal) float64 {
	step := (1 + math.Floor(e.ExpFloat64()/math.Ln2)) * float64(2*e.IntN(2)-1)
	if math.Abs(l.Value) > 20 && e.Chance(0.5) {
		step += math.Round(l.Value * e.NormFloat64() * e.scale(2))
	}
	if v := l.Value + step; l.Role == lex.Element || (v < 0) == (l.Value < 0) {
		return v
	}
	return l.Value - step
}

// set gives the i-th number the value v, unless v is beyond what makes sense or cannot be written there.
func (e *editor) set(i int, v float64) {
	l := &e.now[i]
	if whole := v == math.Trunc(v); math.Abs(v) <= 1<<53 && (whole || !l.Integer || l.Suffix == "") { // false for NaN
		l.Value, l.Integer = v, l.Integer && whole
	}
}
