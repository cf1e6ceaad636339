package bandit

import (
	"cmp"
	"fmt"
	"math"
)

// RisingUCB is R-ed-UCB, for rested rising bandits: arms whose expected reward grows with their own pulls, at
// a rate that falls. It extends each arm's recent rise in a straight line to the present round, as if the arm
// had had all pulls. It pulls the arm with the largest
//
//	μ̂ + β,  μ̂ = (1/h)·Σ (x_l + (t − l)·(x_l − x_{l−h})/h),  β = σ·(t − n + h − 1)·sqrt(10·α·ln t/h³)
//
// The sum is over the arm's last h = ⌊ε·n⌋ rewards x_l, l = n−h+1, ..., n, where n is the number of its
// outcomes, and t is the number of the coming draw, counted from 1. Arms with too few pulls for h to be 1
// come first, the one with the fewest pulls before the others, and ties go to the lowest arm. It is
// deterministic.
//
// β is for noise of size σ in the rewards. A search's best score so far has none, so the default is σ = 0:
// the straight line alone. With σ = 0.1 and a few hundred draws β still hides all differences.
//
// Pending pulls count in t, and in the number of pulls of an arm that may have too few. μ̂ is of the outcomes
// that are in. While those are too few, μ̂ is their mean, or the mean of all outcomes.
//
// Source: A. M. Metelli, F. Trovò, M. Pirola, M. Restelli, "Stochastic Rising Bandits", ICML 2022, section 4.
// With σ > 0 and α > 2 its regret is of order T^(2/3) if the arms stop rising soon enough.
type RisingUCB struct {
	// Epsilon is the share ε of an arm's outcomes in the window; 0 means 1/4. It panics at the first
	// draw if it is not in (0, 1/2].
	Epsilon float64
	// Sigma is the size σ of the noise; 0 means none. It panics at the first draw if it is negative or
	// not finite.
	Sigma float64
	// Alpha is the exponent α of the bound's confidence; 0 means 2. It does nothing if Sigma is 0. It
	// panics at the first draw if it is negative or not finite.
	Alpha float64

	seen Tally
	arms []rising
}

var _ Policy = (*RisingUCB)(nil)

// rising is one arm's rewards, and what its window tells of it.
type rising struct {
	rewards []float64
	trend   trend // worked out at the first draw after an outcome, since it takes a pass over the window
}

// trend sums up the window of an arm with n outcomes: μ̂ = mean + lag + (t − n)·slope.
type trend struct {
	n, h             int
	mean, lag, slope float64
}

func (u *RisingUCB) epsilon() float64 { return cmp.Or(u.Epsilon, 0.25) }

func (u *RisingUCB) validate() {
	if e := u.epsilon(); !(e > 0 && e <= 0.5) {
		panicf("RisingUCB.Epsilon is %v: need a share in (0, 1/2], or 0 for 1/4", u.Epsilon)
	}
	if !(u.Sigma >= 0 && finite(u.Sigma)) {
		panicf("RisingUCB.Sigma is %v: need a finite number, at least 0", u.Sigma)
	}
	if !(u.Alpha >= 0 && finite(u.Alpha)) {
		panicf("RisingUCB.Alpha is %v: need a finite number, at least 0", u.Alpha)
	}
}

// Probs gives mass 1 to the arm with the largest bound.
func (u *RisingUCB) Probs(p []float64, r Round) {
	u.validate()
	u.arms = grown(u.arms, len(p))
	few := func(arm int) bool { return u.epsilon()*u.pulls(arm, r) < 1 }
	if arm := fewest(r.Open, few, func(arm int) float64 { return u.pulls(arm, r) }); arm >= 0 {
		p[arm] = 1
		return
	}
	t := u.seen.Total() + r.pending() + 1
	OneHot(p, r.Open, func(arm int) float64 { return u.bound(arm, t) })
}

// pulls returns the number of arm's pulls, the pending ones among them.
func (u *RisingUCB) pulls(arm int, r Round) float64 {
	return u.seen.Pulls(arm) + float64(r.Pending[arm])
}

// bound returns μ̂ + β at draw t.
func (u *RisingUCB) bound(arm int, t float64) float64 {
	w := &u.arms[arm].trend
	if x := u.arms[arm].rewards; w.n != len(x) {
		*w = newTrend(x, u.epsilon())
	}
	if w.h == 0 {
		return u.seen.expected(arm)
	}
	n, h := u.seen.Pulls(arm), float64(w.h)
	beta := u.Sigma * (t - n + h - 1) * math.Sqrt(10*cmp.Or(u.Alpha, 2)*math.Log(t)/(h*h*h))
	return w.mean + w.lag + (t-n)*w.slope + beta
}

// Update records one outcome.
func (u *RisingUCB) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	u.seen.Add(pull.Arm, reward)
	u.arms = grown(u.arms, pull.Arm+1)
	u.arms[pull.Arm].rewards = append(u.arms[pull.Arm].rewards, reward)
}

func newTrend(x []float64, epsilon float64) trend {
	n := len(x)
	w := trend{n: n, h: int(epsilon * float64(n))}
	h := float64(w.h)
	for back := range w.h {
		last := x[n-1-back]
		rise := last - x[n-1-back-w.h]
		w.mean += last / h
		w.slope += rise / (h * h)
		w.lag += float64(back) * rise / (h * h)
	}
	return w
}

// String names the policy and its parameters.
func (u *RisingUCB) String() string {
	return fmt.Sprintf("RisingUCB(epsilon=%v, sigma=%v, alpha=%v)", u.epsilon(), u.Sigma, cmp.Or(u.Alpha, 2))
}
