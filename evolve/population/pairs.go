package population

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/evoalloc/evoalloc/bandit"
)

// pairs draws an operator by a policy of its own, and a proposer to go with it by another one over the pairs of both:
//
//	p(o, a) = p(o)·q(o, a)/Σ_b q(o, b)
//
// The first policy is told the propensity of the pair.
type pairs struct {
	operators bandit.Policy
	each      int           // proposers
	of        bandit.Policy // over pairs
}

// Probs fills p.
func (t pairs) Probs(p []float64, r bandit.Round) {
	t.of.Probs(p, r)
	outer := r
	outer.Open, outer.Pending, outer.Costs = nil, nil, nil
	for i := 0; i < len(p); i += t.each {
		outer.Open = append(outer.Open, slices.Contains(r.Open[i:i+t.each], true))
		pending := 0
		for _, n := range r.Pending[i : i+t.each] {
			pending += n
		}
		outer.Pending = append(outer.Pending, pending)
	}
	q := make([]float64, len(outer.Open))
	t.operators.Probs(q, outer)
	for o, chance := range q {
		of := p[o*t.each : (o+1)*t.each]
		if sum := floats.Sum(of); sum > 0 {
			floats.Scale(chance/sum, of)
		} else if open := slices.Index(r.Open[o*t.each:(o+1)*t.each], true); open >= 0 {
			of[open] = chance
		}
	}
}

// Update tells both.
func (t pairs) Update(pull bandit.Pull, reward float64) {
	t.of.Update(pull, reward)
	pull.Arm /= t.each
	pull.Arms /= t.each
	t.operators.Update(pull, reward)
}

// String names both.
func (t pairs) String() string { return nameOf(t.operators) + ", proposers by " + nameOf(t.of) }
