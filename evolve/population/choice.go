package population

import (
	"fmt"
	"math/rand/v2"
)

// Choice selects by Either with probability P, and else by Or. Nested, it is any mixture: OpenEvolve's is 0.2 of one
// way, 0.7 of another, and 0.1 of a third.
type Choice struct {
	P      float64 // in [0, 1]
	Either Selector
	Or     Selector
}

var _ choosing = Choice{}

// A choosing selector has several, and tells which of them it used.
type choosing interface {
	Selector
	choose(from []*Member, r *rand.Rand) (m *Member, by Selector)
}

// selectBy selects with s, and returns the selector within s that chose, or s itself.
func selectBy(s Selector, from []*Member, r *rand.Rand) (m *Member, by Selector) {
	if c, ok := s.(choosing); ok {
		return c.choose(from, r)
	}
	return s.Select(from, r), s
}

func (c Choice) validate() error {
	switch {
	case !(c.P >= 0 && c.P <= 1):
		return fmt.Errorf("population: Choice.P is %v: need a probability", c.P)
	case c.Either == nil || c.Or == nil:
		return fmt.Errorf("population: Choice{%v, %v, %v}: need two selectors", c.P, c.Either, c.Or)
	}
	return firstOf(func() error { return valid(c.Either) }, func() error { return valid(c.Or) })
}

// Select returns one of from.
func (c Choice) Select(from []*Member, r *rand.Rand) *Member {
	m, _ := c.choose(from, r)
	return m
}

func (c Choice) choose(from []*Member, r *rand.Rand) (*Member, Selector) {
	if r.Float64() < c.P {
		return selectBy(c.Either, from, r)
	}
	return selectBy(c.Or, from, r)
}

// String names the selectors and the probability.
func (c Choice) String() string {
	return fmt.Sprintf("Choice(%v: %s, else %s)", c.P, nameOf(c.Either), nameOf(c.Or))
}

// EpsilonGreedy(ε) selects uniformly with probability ε, and else the best member. It is the plainest way to use an
// archive, and the baseline for the others.
type EpsilonGreedy float64

var _ choosing = EpsilonGreedy(0)

func (e EpsilonGreedy) validate() error {
	if !(e >= 0 && e <= 1) {
		return fmt.Errorf("population: EpsilonGreedy(%v): need a probability", float64(e))
	}
	return nil
}

// Select returns one of from.
func (e EpsilonGreedy) Select(from []*Member, r *rand.Rand) *Member {
	m, _ := e.choose(from, r)
	return m
}

func (e EpsilonGreedy) choose(from []*Member, r *rand.Rand) (*Member, Selector) {
	return Choice{float64(e), Uniform{}, Best{}}.choose(from, r)
}

// String names the selector.
func (e EpsilonGreedy) String() string { return fmt.Sprintf("EpsilonGreedy(%v)", float64(e)) }

// ByWeight selects a member with a chance in proportion to what the func returns for it, which has to be finite and at
// least 0. If it is 0 for all, each has the same chance.
type ByWeight func(m *Member) float64

var _ Selector = ByWeight(nil)

// Select returns one of from.
func (f ByWeight) Select(from []*Member, r *rand.Rand) *Member {
	weights := make([]float64, len(from))
	for i, m := range from {
		weights[i] = f(m)
	}
	return from[weighted(weights, r)]
}

// String returns "ByWeight" for every func, as what it does cannot be printed.
func (f ByWeight) String() string { return "ByWeight" }
