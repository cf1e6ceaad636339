package population

import "math/rand/v2"

// Uniform selects each member with the same chance.
type Uniform struct{}

var _ Selector = Uniform{}

// Select returns one of from.
func (Uniform) Select(from []*Member, r *rand.Rand) *Member { return from[r.IntN(len(from))] }

// String names the selector.
func (Uniform) String() string { return "Uniform" }
