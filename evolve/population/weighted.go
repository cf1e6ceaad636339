package population

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Weighted(λ) selects by score and by how often a member was a parent already, ShinkaEvolve's default:
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
type Weighted float64

var _ Selector = Weighted(0)

func (l Weighted) validate() error {
	if !(l >= 0) || math.IsInf(float64(l), 1) {
		return fmt.Errorf("population: Weighted(%v): need 0 for 10, or a finite number above", float64(l))
	}
	return nil
}

func (l Weighted) lambda() float64 {
	if l == 0 {
		return 10
	}
	return float64(l)
}

// leastSpread is the least MAD. Shinka's code has it.
const leastSpread = 1e-6

// Select returns one of from.
func (l Weighted) Select(from []*Member, r *rand.Rand) *Member {
	scores := make([]float64, len(from))
	for i, m := range from {
		scores[i] = m.Result.Score
	}
	middle := median(scores)
	far := make([]float64, len(from))
	for i, s := range scores {
		far[i] = math.Abs(s - middle)
	}
	scale := max(median(far), leastSpread)
	for i, m := range from {
		far[i] = 1 / (1 + math.Exp(-l.lambda()*(scores[i]-middle)/scale)) / float64(1+m.Asked)
	}
	return from[weighted(far, r)]
}

// median returns the median of x, the mean of the two in the middle of an even number.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// String names the selector.
func (l Weighted) String() string { return fmt.Sprintf("Weighted(%v)", l.lambda()) }
