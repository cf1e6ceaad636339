package population

import (
	"fmt"
	"math/rand/v2"
)

// Choice returns a selector that selects by either with probability p, and else by or. Nested, it is any mixture:
// OpenEvolve's is 0.2 of one way, 0.7 of another, and 0.1 of a third. Choice(ε, Uniform(), Best()) is ε-greedy, the
// plainest way to use an archive, and the baseline for the others.
func Choice(p float64, either, or Selector) Selector { return choice{p, either, or} }

type choice struct {
	p          float64 // in [0, 1]
	either, or Selector
}

var _ choosing = choice{}

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

func (c choice) validate() error {
	switch {
	case !(c.p >= 0 && c.p <= 1):
		return fmt.Errorf("population: Choice(%v, ...): need a probability", c.p)
	case c.either == nil || c.or == nil:
		return fmt.Errorf("population: Choice(%v, %v, %v): need two selectors", c.p, c.either, c.or)
	}
	return firstOf(func() error { return valid(c.either) }, func() error { return valid(c.or) })
}

// Select returns one of from.
func (c choice) Select(from []*Member, r *rand.Rand) *Member {
	m, _ := c.choose(from, r)
	return m
}

func (c choice) choose(from []*Member, r *rand.Rand) (*Member, Selector) {
	if r.Float64() < c.p {
		return selectBy(c.either, from, r)
	}
	return selectBy(c.or, from, r)
}

// String names the selectors and the probability.
func (c choice) String() string {
	return fmt.Sprintf("Choice(%v: %s, else %s)", c.p, nameOf(c.either), nameOf(c.or))
}

// ByWeight returns a selector of a member with a chance in proportion to its weight, which has to be finite and at
// least 0. If it is 0 for all, each has the same chance.
func ByWeight(weight func(m *Member) float64) Selector { return byWeight(weight) }

type byWeight func(m *Member) float64

// Select returns one of from.
func (f byWeight) Select(from []*Member, r *rand.Rand) *Member {
	weights := make([]float64, len(from))
	for i, m := range from {
		weights[i] = f(m)
	}
	return from[weighted(weights, r)]
}

// String returns "ByWeight" for every func, as what it does cannot be printed.
func (f byWeight) String() string { return "ByWeight" }
