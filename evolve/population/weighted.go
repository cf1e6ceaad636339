package population

import (
	"fmt"
	"github.com/evoalloc/evoalloc/internal/stream"
	"math"
	"math/rand/v2"
	"slices"
)

// Weighted returns a selector by score and by how often a member was a parent already, ShinkaEvolve's default:
//
//	p ∝ σ(λ·(F − median)/MAD) · 1/(1 + children)
//
// σ is the logistic function, F the member's score, the median and MAD, the median of the absolute distances from it,
// are those of all members, MAD is at least 1e-6, and children is [Member.Asked]. 0 means that λ is 10.
//
// Every member keeps a share while it has no children, so that over an archive that grows without bound it comes close
// to [Uniform].
//
// Source: ShinkaEvolve (arXiv 2509.19349), section 3.1; the second factor is that of J. Zhang et al., "Darwin Gödel
// Machine" (arXiv 2505.22954), appendix A.2.
func Weighted(lambda float64) Selector { return byScoreAndUse(lambda) }

type byScoreAndUse float64

// Validate fails if λ is negative or not finite.
func (l byScoreAndUse) Validate() error {
	if !(l >= 0) || math.IsInf(float64(l), 1) {
		return fmt.Errorf("population: Weighted(%v): need 0 for 10, or a finite number above", float64(l))
	}
	return nil
}

func (l byScoreAndUse) lambda() float64 {
	if l == 0 {
		return 10
	}
	return float64(l)
}

// leastSpread is the least MAD. Shinka's code has it.
const leastSpread = 1e-6

// Select returns one of from. A member that is drawn uniformly is accepted with a chance of its weight, which is at
// most 1, so that over a large archive not all weights are computed. Only if none is accepted for long are they.
func (l byScoreAndUse) Select(from []Member, r *rand.Rand) int {
	middle, scale := spread(from)
	weight := func(i int) float64 {
		return 1 / (1 + math.Exp(-l.lambda()*(from[i].Result.Score-middle)/scale)) / float64(1+from[i].Asked())
	}
	for range 50 {
		if i := r.IntN(len(from)); r.Float64() < weight(i) {
			return i
		}
	}
	weights := make([]float64, len(from))
	for i := range from {
		weights[i] = weight(i)
	}
	return stream.Draw(weights, r)
}

// spread returns the median of the members' scores, and the median of the distances from it, which is at least
// leastSpread.
func spread(from []Member) (middle, scale float64) {
	scores := make([]float64, len(from))
	for i := range from {
		scores[i] = from[i].Result.Score
	}
	middle = median(scores)
	for i, score := range scores {
		scores[i] = math.Abs(score - middle)
	}
	return middle, max(median(scores), leastSpread)
}

// median sorts numbers and returns the median.
func median(x []float64) float64 {
	slices.Sort(x)
	return x[(len(x)-1)/2]/2 + x[len(x)/2]/2
}

// String names the selector.
func (l byScoreAndUse) String() string { return fmt.Sprintf("Weighted(%v)", l.lambda()) }
