package population

import (
	"github.com/evoalloc/evoalloc/internal/stream"
	"math/rand/v2"
)

// Best returns a selector of the best member, and of equals the one that comes first.
func Best() Selector { return bestMember{} }

type bestMember struct{}

// Select returns the best of from.
func (bestMember) Select(from []Member, _ *rand.Rand) int {
	best := 0
	for i := range from {
		if outranks(&from[i], &from[best]) {
			best = i
		}
	}
	return best
}

// String names the selector.
func (bestMember) String() string { return "Best" }

// Uniform returns a selector of each member with the same chance.
func Uniform() Selector { return uniform{} }

type uniform struct{}

// Select returns one of from.
func (uniform) Select(from []Member, r *rand.Rand) int { return r.IntN(len(from)) }

// String names the selector.
func (uniform) String() string { return "Uniform" }

// ByWeight returns a selector of a member with a chance in proportion to its weight, which has to be finite and at
// least 0. If it is 0 for all, each has the same chance.
func ByWeight(weight func(m Member) float64) Selector { return byWeight(weight) }

type byWeight func(m Member) float64

// Select returns one of from.
func (f byWeight) Select(from []Member, r *rand.Rand) int {
	weights := make([]float64, len(from))
	for i := range from {
		weights[i] = f(from[i])
	}
	return stream.Draw(weights, r)
}

// String returns "ByWeight" for every func, as what it does cannot be printed.
func (f byWeight) String() string { return "ByWeight" }
