package population

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// PowerLaw returns a selector of the member of rank i, counted from 1 for the best, with a chance in proportion to
// i^−α. 0 means that α is 1, ShinkaEvolve's. The larger α, the more often the best.
//
// Source: ShinkaEvolve (arXiv 2509.19349), section 3.1.
func PowerLaw(alpha float64) Selector { return powerLaw(alpha) }

type powerLaw float64

func (a powerLaw) validate() error {
	if !(a >= 0) || math.IsInf(float64(a), 1) {
		return fmt.Errorf("population: PowerLaw(%v): need 0 for 1, or a finite number above", float64(a))
	}
	return nil
}

func (a powerLaw) alpha() float64 {
	if a == 0 {
		return 1
	}
	return float64(a)
}

// Select returns one of from.
func (a powerLaw) Select(from []*Member, r *rand.Rand) *Member {
	return byRank(from)[zipf(a.alpha(), len(from), r)-1]
}

// zipf draws i in 1..n with a chance in proportion to i^−α, without adding up n weights: it inverts the integral of
// x^−α and rejects what the steps lie below it. The chance to accept is high for every α and n.
//
// Source: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions",
// ACM TOMACS 6 (1996).
func zipf(alpha float64, n int, r *rand.Rand) int {
	h := func(x float64) float64 { return math.Pow(x, -alpha) }
	integral, inverse := math.Log, math.Exp
	if alpha != 1 {
		integral = func(x float64) float64 { return (math.Pow(x, 1-alpha) - 1) / (1 - alpha) }
		inverse = func(u float64) float64 { return math.Pow(max(0, 1+u*(1-alpha)), 1/(1-alpha)) }
	}
	from, to := integral(1.5)-1, integral(float64(n)+0.5)
	for {
		u := to + r.Float64()*(from-to)
		i := math.Max(1, math.Min(math.Floor(inverse(u)+0.5), float64(n)))
		if u >= integral(i+0.5)-h(i) {
			return int(i)
		}
	}
}

// String names the selector.
func (a powerLaw) String() string { return fmt.Sprintf("PowerLaw(%v)", a.alpha()) }
