package population

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// PowerLaw(α) selects the member of rank i, counted from 1 for the best, with a chance in proportion to i^−α. 0 means
// that α is 1, ShinkaEvolve's. The larger α, the more often the best.
//
// Source: ShinkaEvolve (arXiv 2509.19349), section 3.1.
type PowerLaw float64

var _ Selector = PowerLaw(0)

func (a PowerLaw) validate() error {
	if !(a >= 0) || math.IsInf(float64(a), 1) {
		return fmt.Errorf("population: PowerLaw(%v): need 0 for 1, or a finite number above", float64(a))
	}
	return nil
}

func (a PowerLaw) alpha() float64 {
	if a == 0 {
		return 1
	}
	return float64(a)
}

// Select returns one of from.
func (a PowerLaw) Select(from []*Member, r *rand.Rand) *Member {
	alpha := a.alpha()
	weights := make([]float64, len(from))
	for i := range weights {
		if weights[i] = 1 / float64(i+1); alpha != 1 {
			weights[i] = math.Pow(weights[i], alpha)
		}
	}
	return byRank(from)[weighted(weights, r)]
}

// String names the selector.
func (a PowerLaw) String() string { return fmt.Sprintf("PowerLaw(%v)", a.alpha()) }
