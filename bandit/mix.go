package bandit

import (
	"fmt"
	"slices"
	"strings"
)

// Mix draws from several policies at once. An arm is pulled with the weighted mean
//
//	Σ wᵢ·pᵢ / Σ wᵢ
//
// of the chances that they give it. Every policy hears of every outcome, with the propensity of the mixture,
// so the importance weights of each are right although the others drew too. Within a draw they use its random
// stream one after the other.
//
// It panics if there is not one weight to a policy, if a weight is negative or not finite, or if they sum to 0.
func Mix(weights []float64, policies ...Policy) Policy {
	if len(weights) != len(policies) {
		panicf("Mix of %d weights and %d policies", len(weights), len(policies))
	}
	var sum float64
	for i, w := range weights {
		if !(w >= 0) {
			panicf("Mix: weight %v of %v: need a number, at least 0", w, policies[i])
		}
		sum += w
	}
	if !(sum > 0 && finite(sum)) {
		panicf("Mix: weights %v: need a positive, finite sum", weights)
	}
	m := &mixed{policies: slices.Clone(policies)}
	for _, w := range weights {
		m.weights = append(m.weights, w/sum)
	}
	return withForget(m, m.policies...)
}

type mixed struct {
	weights  []float64 // sum to 1
	policies []Policy
	one      []float64 // scratch: one policy's chances
}

var _ Policy = (*mixed)(nil)

func (m *mixed) Probs(p []float64, r Round) {
	clear(p)
	m.one = slices.Grow(m.one[:0], len(p))[:len(p)]
	for i, policy := range m.policies {
		clear(m.one) // as Policy promises
		policy.Probs(m.one, r)
		for arm, v := range m.one {
			p[arm] += m.weights[i] * v
		}
	}
}

func (m *mixed) Update(pull Pull, reward float64) {
	for _, policy := range m.policies {
		policy.Update(pull, reward)
	}
}

func (m *mixed) AnyScale() bool {
	return !slices.ContainsFunc(m.policies, func(p Policy) bool { return !AnyScale(p) })
}

func (m *mixed) String() string {
	terms := make([]string, len(m.policies))
	for i, policy := range m.policies {
		terms[i] = fmt.Sprintf("%v*%s", m.weights[i], nameOf(policy))
	}
	return "Mix(" + strings.Join(terms, " + ") + ")"
}
