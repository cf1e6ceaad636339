package population

import "math/rand/v2"

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
