package population

import "math/rand/v2"

// Uniform returns a selector of each member with the same chance.
func Uniform() Selector { return uniform{} }

type uniform struct{}

// Select returns one of from.
func (uniform) Select(from []Member, r *rand.Rand) int { return r.IntN(len(from)) }

// String names the selector.
func (uniform) String() string { return "Uniform" }
