package population

import "math/rand/v2"

// Best selects the best member, and of equals the one that comes first.
type Best struct{}

var _ Selector = Best{}

// Select returns the best of from.
func (Best) Select(from []*Member, _ *rand.Rand) *Member {
	best := from[0]
	for _, m := range from[1:] {
		if outranks(m, best) {
			best = m
		}
	}
	return best
}

// String names the selector.
func (Best) String() string { return "Best" }
