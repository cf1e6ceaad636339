package bandit

import (
	"cmp"
	"fmt"
)

// Softmax draws arms the likelier the better they are (Boltzmann exploration). It goes by means that a prior
// keeps from jumping at the first outcomes:
//
//	p = exp(m/τ)/Σexp(m/τ),  m = (s₀·μ₀ + n·x̄)/(s₀ + n)
//
// where n is the number of outcomes of the arm, x̄ the mean of its rewards, μ₀ the prior mean and s₀ the
// number of outcomes that the prior is worth. An arm that is ahead by τ is drawn e times as often. At a
// constant τ a worse arm keeps its share for ever, so regret grows with the number of draws, and no bound is
// known that would be of use (N. Cesa-Bianchi, C. Gentile, G. Lugosi, G. Neu, "Boltzmann Exploration Done
// Right", NIPS 2017).
//
// The chances depend on the outcomes that are in, and not on pending pulls. Several draws in a row still
// differ, since each is random.
//
// Source: R. S. Sutton, A. G. Barto, "Reinforcement Learning: An Introduction" (1998), section 2.3; the prior
// is that of [GaussianThompson].
type Softmax struct {
	// Tau is the temperature τ, in units of reward; 0 means 0.1. It panics at the first draw if it is
	// negative or not finite.
	Tau float64
	// PriorMean is μ₀; 0 means 0.5. For a prior mean of zero give it a tiny value. It panics at the
	// first draw if it is not finite.
	PriorMean float64
	// PriorStrength is s₀; 0 means 1. It panics at the first draw if it is negative or not finite.
	PriorStrength float64

	seen Tally
	m    []float64 // scratch
}

var _ Forgetter = (*Softmax)(nil)

// params returns τ, μ₀ and s₀ with the defaults filled in.
func (s *Softmax) params() (tau, mean, strength float64) {
	return cmp.Or(s.Tau, 0.1), cmp.Or(s.PriorMean, 0.5), cmp.Or(s.PriorStrength, 1)
}

// Probs fills p with exp(m/τ)/Σexp(m/τ) over the open arms.
func (s *Softmax) Probs(p []float64, r Round) {
	tau, mean, strength := s.params()
	if !(tau > 0 && finite(tau)) {
		panicf("Softmax.Tau is %v: need a finite number, at least 0", tau)
	}
	if !finite(mean) {
		panicf("Softmax.PriorMean is %v: need a finite number", mean)
	}
	if !(strength > 0 && finite(strength)) {
		panicf("Softmax.PriorStrength is %v: need a finite number, at least 0", strength)
	}
	s.m = grown(s.m, len(p))
	for arm := range p {
		n := s.seen.Pulls(arm)
		// A mean of two means, where a sum of rewards could overflow.
		prior, data := strength/(strength+n), n/(strength+n)
		s.m[arm] = prior*mean + data*s.seen.Mean(arm)
	}
	expWeights(p, s.m, 1/tau, r.Open)
}

// Update records one outcome.
func (s *Softmax) Update(pull Pull, reward float64) { s.seen.Add(pull.Arm, reward) }

// Forget discounts the numbers of outcomes n by gamma.
func (s *Softmax) Forget(gamma float64) { s.seen.Discount(gamma) }

// String names the policy and its parameters.
func (s *Softmax) String() string {
	tau, mean, strength := s.params()
	return fmt.Sprintf("Softmax(tau=%v, mean=%v, strength=%v)", tau, mean, strength)
}
