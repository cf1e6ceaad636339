package population

import "math/rand/v2"

// Best returns a selector of the best member, and of equals the one that comes first.
func Best() Selector { return bestMember{} }

type bestMember struct{}

// Select returns the best of from.
func (bestMember) Select(from []*Member, _ *rand.Rand) *Member {
	best := from[0]
	for _, m := range from[1:] {
		if outranks(m, best) {
			best = m
		}
	}
	return best
}

// String names the selector.
func (bestMember) String() string { return "Best" }
