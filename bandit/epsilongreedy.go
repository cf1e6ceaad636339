package bandit

import (
	"fmt"
	"math"
)

// EpsilonGreedy pulls, with probability 1 − ε, the arm with the largest mean reward, and with probability ε
// one of the open arms at random. Arms never pulled count as the best ones, in order, and ties go to the
// lowest arm. The share ε is constant, or falls with the number t of the draw, counted from 1:
//
//	ε = min(Epsilon, Decay/t)
//
// The source's εₙ-greedy has Epsilon 1 and Decay c·K/d². K is the number of arms, and d is a number, at most
// 1, by which the best mean is ahead of every other one. For c > 5 the chance that draw t is of a given worse
// arm is then at most c/(d²·t) + o(1/t), so regret grows as ln t. A constant share goes on exploring for
// ever, and its regret grows as ε·t.
//
// Pending pulls count in t, and an arm on its first pull is not taken for one never pulled. Until its outcome
// is in, its mean is that of all outcomes, or 0 if there are none. Several draws without an outcome between
// them have the same best arm; an allocator that closes arms with a pending pull spreads them.
//
// Source: P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem",
// Machine Learning 47 (2002), figure 3 and theorem 3.
type EpsilonGreedy struct {
	// Epsilon is the largest share of exploration; 0 means 0.1, or 1 if there is a Decay. For no exploration
	// at all, give it a tiny value. It panics at the first draw if it is not in [0, 1].
	Epsilon float64
	// Decay is the number of draws that explore, on average, while t grows by a factor of e; 0 means that the
	// share is constant. It panics at the first draw if it is negative or not finite.
	Decay float64

	seen Tally
}

var _ Forgetter = (*EpsilonGreedy)(nil)

// most returns the largest share of exploration, with the default filled in.
func (e *EpsilonGreedy) most() float64 {
	switch {
	case e.Epsilon != 0:
		return e.Epsilon
	case e.Decay != 0:
		return 1
	}
	return 0.1
}

// Probs gives 1 − ε to the best arm and shares ε out evenly.
func (e *EpsilonGreedy) Probs(p []float64, r Round) {
	if !(e.Epsilon >= 0 && e.Epsilon <= 1) {
		panicf("EpsilonGreedy.Epsilon is %v: need a share in [0, 1]", e.Epsilon)
	}
	if !(e.Decay >= 0 && finite(e.Decay)) {
		panicf("EpsilonGreedy.Decay is %v: need a finite number, at least 0", e.Decay)
	}
	epsilon := e.most()
	if e.Decay > 0 {
		epsilon = min(epsilon, e.Decay/(e.seen.Total()+r.pending()+1))
	}
	OneHot(p, r.Open, func(arm int) float64 {
		if e.seen.Pulls(arm)+float64(r.Pending[arm]) == 0 {
			return math.Inf(1)
		}
		return e.seen.expected(arm)
	})
	mixUniform(p, r.Open, epsilon)
}

// Update records one outcome.
func (e *EpsilonGreedy) Update(pull Pull, reward float64) { e.seen.Add(pull.Arm, reward) }

// Forget discounts the numbers of pulls by gamma, and so t.
func (e *EpsilonGreedy) Forget(gamma float64) { e.seen.Discount(gamma) }

// AnyScale reports that rewards may be on any scale.
func (e *EpsilonGreedy) AnyScale() bool { return true }

// String names the policy and its parameters.
func (e *EpsilonGreedy) String() string {
	return fmt.Sprintf("EpsilonGreedy(epsilon=%v, decay=%v)", e.most(), e.Decay)
}
