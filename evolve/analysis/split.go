package analysis

import (
	"fmt"
	"math"
)

// A Split is the best way to divide a budget between depth and breadth by a [Surface].
type Split struct {
	Calls    float64 `json:"C"` // the budget
	T        float64 `json:"T"`
	N        float64 `json:"N"`
	Interior bool    `json:"interior"` // 1 < T < C; else a corner, T = 1 or N = 1, is best
	LogGap   float64 `json:"log_gap"`  // the surface there
	// HalfWidth is h in octaves, factors of two of T: with C < 0 the gap grows by the factor 1+δ between the optimum
	// and T·2^±h. It is infinite with C ≥ 0, where the surface has no optimum inside.
	HalfWidth float64 `json:"-"`
	// Within are the depths, as pairs of least and greatest, whose gap is at most 1+δ times that of the best. With C
	// > 0 there may be two: one at either end.
	Within [][2]float64 `json:"within"`
}

// Split returns the best split of a budget of calls. With L = ln C, x = ln T and ln N = L − x the surface is a
// parabola,
//
//	y(x) = B0 + A·x + B·(L−x) + C·x·(L−x),   y′ = A − B + C·L − 2C·x,   y″ = −2C
//
// so with C < 0 the least gap is at x* = L/2 + (A−B)/(2C), inside iff |A−B| < |C|·L, and h = √(ln(1+δ)/|C|) to either
// side the gap is 1+δ times as large. Otherwise it is at the better end, with a tie at T = 1. It panics unless calls
// ≥ 1 and delta > 0.
func (s Surface) Split(calls, delta float64) Split {
	if !(calls >= 1) || math.IsInf(calls, 0) || !(delta > 0) || math.IsInf(delta, 0) {
		panic(fmt.Sprintf("analysis: Split(%v calls, delta %v): need at least 1, and more than 0", calls, delta))
	}
	l := math.Log(calls)
	x, interior := s.best(l)
	loss := math.Log1p(delta)
	split := Split{
		Calls: calls, T: math.Exp(x), N: math.Exp(l - x), Interior: interior,
		LogGap: s.along(x, l), HalfWidth: math.Inf(1),
	}
	if s.C < 0 {
		split.HalfWidth = math.Sqrt(loss/-s.C) / math.Ln2
	}
	for _, w := range s.within(x, l, loss) {
		split.Within = append(split.Within, [2]float64{math.Exp(w[0]), math.Exp(w[1])})
	}
	return split
}

// along returns the surface at ln T = x of the budget with logarithm l.
func (s Surface) along(x, l float64) float64 {
	return s.B0 + s.A*x + s.B*(l-x) + s.C*x*(l-x)
}

// best returns the best ln T, and whether it is inside.
func (s Surface) best(l float64) (x float64, interior bool) {
	if s.C < 0 {
		x = l/2 + (s.A-s.B)/(2*s.C)
		if x > 0 && x < l { // the same as |A−B| < |C|·L
			return x, true
		}
		return min(max(x, 0), l), false
	}
	// The ends have A·L and B·L: the product is 0 there.
	if s.A < s.B {
		return l, false
	}
	return 0, false
}

// within returns the parts of [0, l] where the surface is at most loss above its value at x, its least.
//
// At a distance d from x towards an end it is y(x) + slope·d − C·d², so the loss is reached where −C·d² + slope·d =
// loss. With C > 0 the parabola is open below: from one end it rises and comes down towards the other.
func (s Surface) within(x, l, loss float64) [][2]float64 {
	slope := s.A - s.B + s.C*l - 2*s.C*x
	low, again := reach(-s.C, -slope, loss, x)
	high, beyond := reach(-s.C, slope, loss, l-x)
	var parts [][2]float64
	if !math.IsNaN(again) {
		parts = append(parts, [2]float64{0, x - again})
	}
	parts = append(parts, [2]float64{x - low, x + high})
	if !math.IsNaN(beyond) {
		parts = append(parts, [2]float64{x + beyond, l})
	}
	return parts
}

// reach returns how far the parabola q·d² + slope·d stays at most loss from d = 0 on, at most to d = end, and from
// which d it is so again up to the end: NaN if it is not.
func reach(q, slope, loss, end float64) (first, again float64) {
	if end <= 0 {
		return 0, math.NaN()
	}
	if math.Abs(q) < 1e-300 {
		if slope <= 0 {
			return end, math.NaN()
		}
		return min(end, loss/slope), math.NaN()
	}
	root := slope*slope + 4*q*loss
	if root < 0 {
		return end, math.NaN() // q < 0: it never rises so far
	}
	// The smaller positive root, in the form that does not cancel.
	near := 2 * loss / (slope + math.Sqrt(root))
	if !(near > 0 && near < end) {
		return end, math.NaN()
	}
	if q > 0 {
		return near, math.NaN()
	}
	far := (-slope - math.Sqrt(root)) / (2 * q)
	if far < end {
		return near, far
	}
	return near, math.NaN()
}
