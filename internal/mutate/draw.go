package mutate

import (
	"math"
	"math/rand/v2"
)

// A Draw is where the random numbers of a mutation come from.
type Draw struct{ *rand.Rand }

// Chance is true with probability p.
func (d Draw) Chance(p float64) bool { return d.Float64() < p }

// One returns one of texts, each with the same probability.
func (d Draw) One(texts []string) string { return texts[d.IntN(len(texts))] }

// between is uniform on [lo, hi).
func (d Draw) between(lo, hi float64) float64 { return lo + (hi-lo)*d.Float64() }

// scale is 10^-u for u uniform on [0, decades): every order of magnitude is as likely as another.
func (d Draw) scale(decades float64) float64 { return math.Pow(10, -decades*d.Float64()) }

// cauchy is standard Cauchy, cut at 20 to either side.
func (d Draw) cauchy() float64 {
	return min(max(math.Tan(math.Pi*(d.Float64()-0.5)), -20), 20)
}

// sign is 1 or -1.
func (d Draw) sign() float64 { return float64(2*d.IntN(2) - 1) }

// jump is a whole number of at least 1, each next half as likely.
func (d Draw) jump() float64 { return 1 + math.Floor(d.ExpFloat64()/math.Ln2) }

// size says how many of n numbers to change: one in half of all draws, all in a tenth, and otherwise
// more than k with chance 1/(k-1), from two on.
func (d Draw) size(n int) int {
	switch u := d.Float64(); {
	case u < 0.5:
		return 1
	case u < 0.6:
		return n
	}
	return int(min(1+1/(1-d.Float64()), float64(n)))
}
