// Package mutate changes programs and other texts at random, blind to what they are worth: numbers are changed, lines
// swapped, two programs spliced, a prompt reworded. It is what stand-ins for language models are made of.
//
// All randomness comes from a [Draw], so that equal arguments and draws give equal results.
package mutate

import "math/rand/v2"

// A Draw is where the random numbers of a mutation come from.
type Draw struct{ *rand.Rand }

// Chance is true with probability p.
func (d Draw) Chance(p float64) bool { return d.Float64() < p }

// One returns one of texts, each with the same probability.
func (d Draw) One(texts []string) string { return texts[d.IntN(len(texts))] }
