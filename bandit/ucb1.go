package bandit

import (
	"cmp"
	"fmt"
	"math"
)

// UCB1 pulls the arm with the largest upper confidence bound
//
//	x̄ + c·sqrt(ln t / n)
//
// where n is the number of pulls of the arm, x̄ the mean of its rewards and t the number of pulls of all
// arms. Arms never pulled come first, in order, and ties go to the lowest arm. It is deterministic: all its
// mass is on one arm.
//
// Pending pulls count in n and t. So an arm on its first pull is not taken for one never pulled, and several
// draws in a row spread over the arms. Until the first outcome of an arm is in, x̄ is the mean of all
// outcomes, or 0 if there are none. An allocator that closes the arms with a pending pull needs nothing more.
//
// With a score as reward UCB1 takes an arm for stationary, which a search that improves is not. [Discounted]
// lets it forget.
//
// Source: P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem",
// Machine Learning 47 (2002), figure 1, which has c = √2 for rewards in [0, 1].
type UCB1 struct {
	// C is the width c of the confidence bound, in units of reward; 0 means √2. For no
	// exploration but the first pull of each arm, give it a tiny value. It panics at the first
	// draw if C is negative or not finite.
	C float64

	seen Tally
}

var _ Forgetter = (*UCB1)(nil)

// Probs gives mass 1 to the arm with the largest bound.
func (u *UCB1) Probs(p []float64, r Round) {
	c := cmp.Or(u.C, math.Sqrt2)
	if !(c > 0 && finite(c)) {
		panicf("UCB1.C is %v: need a finite number, at least 0", c)
	}
	log := math.Log(max(u.seen.Total()+r.pending(), 1)) // below 1 only if everything was forgotten
	OneHot(p, r.Open, func(arm int) float64 {
		n := u.seen.Pulls(arm) + float64(r.Pending[arm])
		if n == 0 {
			return math.Inf(1)
		}
		return u.seen.expected(arm) + c*math.Sqrt(log/n)
	})
}

// Update records one outcome.
func (u *UCB1) Update(pull Pull, reward float64) { u.seen.Add(pull.Arm, reward) }

// Forget discounts the numbers of pulls n and t by gamma.
func (u *UCB1) Forget(gamma float64) { u.seen.Discount(gamma) }

// String names the policy and its parameters.
func (u *UCB1) String() string { return fmt.Sprintf("UCB1(c=%v)", cmp.Or(u.C, math.Sqrt2)) }
