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
// drawn over three orders of magnitude, relative to the number or absolute. Integers mostly stay integers, as they
// often count things. Those that stand in lists of numbers are changed more readily, and zeros among them become real.
// A tenth of the edits swap, copy, scale or negate numbers instead.
func Numbers(program string, syn lex.Language, d Draw) string {
	before := syn.Literals(program)
	if len(before) == 0 {
		return program
	}
	e := newEditor(slices.Clone(before), d)
	e.change()
	return lex.Rewrite(program, before, e.now)
}

// An editor changes the numbers of one program.
type editor struct {
	Draw
	now    []lex.Literal
	free   []int   // those that are quantities or elements, or all if none is
	unit   float64 // the median size of those that are not zero; 1 if all are
	lo, hi float64 // the range of those
}

func newEditor(now []lex.Literal, d Draw) *editor {
	e := &editor{Draw: d, now: now, unit: 1}
	for i, l := range now {
		if l.Role == lex.Quantity || l.Role == lex.Element {
			e.free = append(e.free, i)
		}
	}
	if len(e.free) == 0 {
		for i := range now {
			e.free = append(e.free, i)
		}
	}
	var sizes []float64
	e.lo, e.hi = now[e.free[0]].Value, now[e.free[0]].Value
	for _, i := range e.free {
		v := now[i].Value
		e.lo, e.hi = min(e.lo, v), max(e.hi, v)
		if v != 0 {
			sizes = append(sizes, math.Abs(v))
		}
	}
	if slices.Sort(sizes); len(sizes) > 0 {
		e.unit = sizes[len(sizes)/2]
	}
	return e
}

// change makes one edit.
func (e *editor) change() {
	switch {
	case e.blank() && e.Chance(0.6):
		e.spread()
	case e.Chance(0.1):
		e.rearrange()
	default:
		e.move()
	}
}

// blank reports whether the program is a list of numbers that nobody has filled in: at least four in
// lists, all alike.
func (e *editor) blank() bool {
	n := 0
	for _, i := range e.free {
		if l := e.now[i]; l.Column >= 0 && l.Role != lex.Count {
			n++
		}
	}
	return n >= 4 && e.lo == e.hi
}

// spread draws all numbers of lists afresh, those of one column over one range: points of a plane,
// say. Points that are all one score nothing, and so do they while all but one are, so steps that
// change a few would never leave such a start.
func (e *editor) spread() {
	positive := e.Chance(0.75)
	ranges := map[int]float64{}
	for _, i := range e.free {
		l := &e.now[i]
		if l.Column < 0 || !mayBeReal(*l) {
			continue
		}
		s, ok := ranges[l.Column]
		if !ok {
			s = e.unit * e.scale(1)
			ranges[l.Column] = s
		}
		step := s * e.Float64()
		if !positive {
			step *= e.sign()
		}
		l.Value, l.Integer = l.Value+step, false
	}
}

// rearrange edits without a step: it swaps two numbers, copies one over another, scales all or
// negates one.
func (e *editor) rearrange() {
	a := &e.now[e.free[e.IntN(len(e.free))]]
	b := &e.now[e.free[e.IntN(len(e.free))]]
	switch e.IntN(4) {
	case 0:
		if mayBeReal(*a) && mayBeReal(*b) {
			a.Value, b.Value = b.Value, a.Value
			a.Integer, b.Integer = b.Integer, a.Integer
		}
	case 1:
		if mayBeReal(*b) {
			b.Value, b.Integer = a.Value, a.Integer
		}
	case 2:
		factor := math.Exp(e.NormFloat64() * e.scale(3))
		for _, i := range e.free {
			if !e.now[i].Integer {
				e.set(i, e.now[i].Value*factor)
			}
		}
	case 3:
		a.Value = -a.Value
	}
}

// mayBeReal reports whether l may be written with a decimal point.
func mayBeReal(l lex.Literal) bool { return !l.Integer || l.Suffix == "" }

// move changes one, several or all numbers by steps of one scale and shape.
func (e *editor) move() {
	step := e.stepper()
	for _, i := range e.pick() {
		if l := e.now[i]; !l.Integer || e.turnsReal(l) {
			e.now[i].Integer = false
			e.set(i, step(l.Value))
			continue
		}
		e.set(i, e.stepInteger(e.now[i]))
	}
}

// set gives the i-th number the value v, unless v is beyond what makes sense.
func (e *editor) set(i int, v float64) {
	if math.Abs(v) <= 1<<53 { // false for NaN
		e.now[i].Value = v
	}
}

// turnsReal says whether the integer l becomes a real number: hardly ever, but a zero among the
// elements of a list often stands where no number is chosen yet.
func (e *editor) turnsReal(l lex.Literal) bool {
	switch {
	case !mayBeReal(l) || l.Role == lex.Index:
		return false
	case l.Role == lex.Element && l.Value == 0:
		return e.Chance(0.5)
	case l.Role == lex.Element:
		return e.Chance(0.1)
	}
	return e.Chance(0.01)
}

// weights say how likely a number of each role is picked.
var weights = [...]float64{lex.Quantity: 1, lex.Element: 0.5, lex.Count: 0.08, lex.Index: 0.01}

// pick returns the numbers to change, in no order. All means all of e.free; several are any, by
// weight, or neighbours.
func (e *editor) pick() []int {
	n := len(e.free)
	switch k := e.size(n); {
	case k == n && n > 1:
		return e.free
	case k > 1 && e.Chance(0.5):
		from := e.IntN(n - k + 1)
		return e.free[from : from+k]
	default:
		return e.weighted(k)
	}
}

// weighted returns k numbers drawn without replacement by weight: those with the largest u^(1/w)
// (Efraimidis and Spirakis 2006), here in the log domain.
func (e *editor) weighted(k int) []int {
	type keyed struct {
		i   int
		key float64
	}
	all := make([]keyed, len(e.now))
	for i, l := range e.now {
		all[i] = keyed{i, e.ExpFloat64() / weights[l.Role]}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	picked := make([]int, 0, k)
	for _, a := range all[:min(k, len(all))] {
		picked = append(picked, a.i)
	}
	return picked
}

// stepper draws the scale and the shape of a reply's steps.
func (e *editor) stepper() func(float64) float64 {
	size := e.scale(3)
	noise := e.NormFloat64
	if e.Chance(0.5) {
		noise = e.cauchy
	}
	absolute := func(v float64) float64 { return v + e.unit*size*noise() }
	switch u := e.Float64(); {
	case u < 0.08 && e.lo < e.hi:
		return func(float64) float64 { return e.between(e.lo, e.hi) }
	case u < 0.45:
		return func(v float64) float64 {
			if v == 0 {
				return absolute(v)
			}
			return v * math.Exp(size*noise())
		}
	}
	return absolute
}

// stepInteger returns the integer l moved: mostly by one or two, sometimes doubled or halved, a large
// one by some part of it. Only an element of a list changes sign.
func (e *editor) stepInteger(l lex.Literal) float64 {
	step := e.jump() * e.sign()
	if big := math.Abs(l.Value); big > 20 && e.Chance(0.5) {
		step = math.Round(big*e.NormFloat64()*e.scale(2)) + e.sign()
	}
	v := l.Value + step
	switch u := e.Float64(); {
	case u < 0.06:
		v = 2 * l.Value
	case u < 0.12:
		v = math.Trunc(l.Value / 2)
	}
	if l.Role != lex.Element && (v < 0) != (l.Value < 0) {
		v = l.Value - step
	}
	if l.Role != lex.Element && (v < 0) != (l.Value < 0) {
		return l.Value
	}
	return v
}
