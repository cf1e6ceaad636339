package noise

import "math"

// RaceSamples is how many samples a program has in a race, at most, unless a search is told otherwise.
const RaceSamples = 16

// MaxRaceSamples is the most that a search may be told.
const MaxRaceSamples = 64

// A Race is a sequential test of which of two programs is better, by the differences of their samples, taken in pairs. It
// may be looked at after each pair. With Alpha = 1 − confidence, the chance that it is ever wrong is at most Alpha however
// long it goes on, and at most Alpha that it is ever decided where both are worth the same. After n differences d
//
//	E = (1 + n)^(−1/2) · (1 − (Σd)² / ((1 + n) Σd²))^(−n/2)
//
// and it is decided once E ≥ 1/Alpha. E is the likelihood ratio of T = Σd/√Σd² where the mean of d is 0 and where, in
// standard deviations of d, it is drawn from a standard normal distribution. Under the first it is a martingale, so that
// Ville's inequality bounds its maximum. It is the normal mixture of H. Robbins ("Statistical Methods Related to the Law of
// the Iterated Logarithm", 1970) with the variance unknown, as T. Lai ("On Confidence Sequences", 1976) and M. Pérez-Ortiz,
// T. Lardy, R. de Heide and P. Grünwald ("E-Statistics, Group Invariance and Anytime-Valid Testing", 2024) treat it.
//
// It assumes that differences are independent and normal, with one mean and variance for the time of a race. Differences
// of scores with alike distributions are symmetric at least.
type Race struct {
	Alpha float64 // in (0, 1)

	n            int
	sum, squares float64
}

// Add takes in the difference of a pair.
func (r *Race) Add(d float64) {
	r.n++
	r.sum += d
	r.squares += d * d
}

// Decided returns 1 if differences are positive, −1 if they are negative, and 0 as long as it cannot be told.
func (r *Race) Decided() int {
	if !(r.squares > 0) {
		return 0
	}
	n := float64(r.n)
	log := -math.Log1p(n)/2 - n/2*math.Log1p(-r.sum*r.sum/((1+n)*r.squares))
	switch {
	case !(log >= -math.Log(r.Alpha)):
		return 0
	case r.sum > 0:
		return 1
	}
	return -1
}
