package bandit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// ThresholdAscent is for the max-armed bandit, where the best reward counts and not the sum. It pulls the arm
// that is likeliest to bring a reward above a threshold, and raises the threshold as good rewards become
// common. That is the arm with the largest upper confidence bound
//
//	S/n + (α + sqrt(2·S·α + α²))/n,  α = ln(2·T·K/δ)
//
// where n is the number of pulls of the arm, S the number of its rewards above the threshold, T the number of
// pulls of the whole run and K the number of arms. The threshold is 0 at first. Whenever s rewards of all
// arms are above it, it is raised to the least of them, so fewer than s count, the best ones. Arms never
// pulled come first, in order, and ties go to the lowest arm. It is deterministic. Only the order of the
// rewards matters, and whether they are above 0.
//
// The source has rewards on a grid, and raises the threshold by one step of it at a time. This is the limit
// of a fine grid.
//
// Until the threshold is raised it is the source's Chernoff interval algorithm. With rewards 0 and 1 the
// expected regret of that is at most 2·sqrt(3·μ*·T·(K−1)·α) + δ·μ*·T, with μ* the largest mean. For the best
// reward the source proves no bound.
//
// Pending pulls count in n, as if they brought nothing above the threshold.
//
// Source: M. J. Streeter, S. F. Smith, "A Simple Distribution-Free Approach to the Max k-Armed Bandit
// Problem", CP 2006.
type ThresholdAscent struct {
	// T is the number of pulls of all arms in the whole run; 0 means not known: those so far. It panics at
	// the first draw if it is negative.
	T int
	// S is the number s of rewards that raise the threshold; 0 means 100. A smaller one looks at rarer
	// rewards, and is more easily misled. It panics at the first draw if it is negative.
	S int
	// Delta is the chance δ that a bound fails; 0 means 0.01. It panics at the first draw if it is not
	// in (0, 1].
	Delta float64

	seen      Tally
	above     []result  // rewards above the threshold, least first; fewer than s
	count     []float64 // of them, by arm
	threshold float64
}

// result is one outcome of one arm.
type result struct {
	arm    int
	reward float64
}

var _ Policy = (*ThresholdAscent)(nil)

// Probs gives mass 1 to the arm with the largest bound.
func (a *ThresholdAscent) Probs(p []float64, r Round) {
	delta := cmp.Or(a.Delta, 0.01)
	switch {
	case a.T < 0:
		panicf("ThresholdAscent.T is %v: need a number of pulls, or 0 for not known", a.T)
	case a.S < 0:
		panicf("ThresholdAscent.S is %v: need a number of rewards, or 0 for 100", a.S)
	case !(delta > 0 && delta <= 1):
		panicf("ThresholdAscent.Delta is %v: need a chance in (0, 1], or 0 for 0.01", a.Delta)
	}
	a.count = grown(a.count, len(p))
	t := float64(a.T)
	if a.T == 0 {
		t = max(1, a.seen.Total()+r.pending())
	}
	alpha := math.Log(2 * t * float64(len(p)) / delta)
	OneHot(p, r.Open, func(arm int) float64 {
		n := a.seen.Pulls(arm) + float64(r.Pending[arm])
		if n == 0 {
			return math.Inf(1)
		}
		s := a.count[arm]
		return (s + alpha + math.Sqrt(2*s*alpha+alpha*alpha)) / n
	})
}

// Update records one outcome, and raises the threshold if there are now s rewards above it.
func (a *ThresholdAscent) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	a.seen.Add(pull.Arm, reward)
	a.count = grown(a.count, pull.Arm+1)
	if !(reward > a.threshold) {
		return
	}
	i, _ := slices.BinarySearchFunc(a.above, reward, func(o result, x float64) int { return cmp.Compare(o.reward, x) })
	a.above = slices.Insert(a.above, i, result{pull.Arm, reward})
	a.count[pull.Arm]++
	if len(a.above) >= cmp.Or(a.S, 100) {
		a.raise()
	}
}

// raise moves the threshold to the least reward above it. Rewards equal to that do not count any more.
func (a *ThresholdAscent) raise() {
	a.threshold = a.above[0].reward
	drop := 0
	for drop < len(a.above) && a.above[drop].reward == a.threshold {
		a.count[a.above[drop].arm]--
		drop++
	}
	a.above = slices.Delete(a.above, 0, drop)
}

// String names the policy and its parameters.
func (a *ThresholdAscent) String() string {
	return fmt.Sprintf("ThresholdAscent(T=%v, s=%v, delta=%v)", a.T, cmp.Or(a.S, 100), cmp.Or(a.Delta, 0.01))
}
