package bandit

import (
	"cmp"
	"fmt"
)

// RisingElimination is for arms whose best reward rises at a rate that falls. It pulls all arms in turn, but
// drops those that cannot overtake the leader any more. If an arm's best reward y after n outcomes went on
// rising until the end as it did over its last C outcomes, it would reach
//
//	min(ceiling, y + (y_n − y_{n−C})/C·(T − t))
//
// The arm is dropped when that is not above the best reward of the leading arm. T is the number of pulls of
// the whole run and t the number so far, of all arms. An arm with C outcomes or fewer may still reach the
// ceiling while there are pulls left. Pulls go to the arm with the fewest of those that remain, and ties to
// the lowest arm. It is deterministic.
//
// An arm that was dropped stays so while the leader is open, since T − t falls and the leader's best does
// not. When the leader closes, the others are judged by the best of those that are open.
//
// If the rises do fall, the bounds hold, and no arm is dropped that could have ended as the best. A search
// that stagnates before a late jump does not rise like that. It is dropped once it has had C outcomes of
// rest.
//
// Pending pulls count in t, and in the turns. An arm without an outcome is not dropped.
//
// Source: Y. Li, J. Jiang, J. Gao, Y. Shao, C. Zhang, B. Cui, "Efficient Automatic CASH via Rising Bandits",
// AAAI 2020, which smooths the rise over C = 7.
type RisingElimination struct {
	// T is the number of pulls of all arms in the whole run; 0 means not known: T − t is taken to be t, as if
	// half of the run were over. It panics at the first draw if it is negative.
	T int
	// Ceiling is the largest reward that is possible; 0 means 1. For a ceiling of zero give it a tiny value.
	// It panics at the first draw if it is not finite.
	Ceiling float64
	// Lag is the number C of outcomes that the rise is taken over; 0 means 7. It panics at the first draw
	// if it is negative.
	Lag int

	seen courses
}

var _ Policy = (*RisingElimination)(nil)

// Probs gives mass 1 to the arm with the fewest pulls of those that remain. Which do is worked out anew at
// every draw, since another arm leads when the leader closes.
func (e *RisingElimination) Probs(p []float64, r Round) {
	ceiling := cmp.Or(e.Ceiling, 1)
	switch {
	case e.T < 0:
		panicf("RisingElimination.T is %v: need a number of pulls, or 0 for not known", e.T)
	case !finite(ceiling):
		panicf("RisingElimination.Ceiling is %v: need a finite number", ceiling)
	case e.Lag < 0:
		panicf("RisingElimination.Lag is %v: need a number of outcomes, or 0 for 7", e.Lag)
	}
	left := float64(e.seen.total) + r.pending()
	if e.T > 0 {
		left = max(0, float64(e.T)-left)
	}
	leader := e.leader(r.Open)
	remains := func(arm int) bool {
		return arm == leader || e.seen.pulls(arm) == 0 || e.bound(arm, left) > e.seen.now(leader)
	}
	p[fewest(r.Open, remains, func(arm int) float64 { return float64(e.seen.pulls(arm) + r.Pending[arm]) })] = 1
}

// leader returns the open arm with the best reward, the lowest one if there are several.
func (e *RisingElimination) leader(open []bool) int {
	at := -1
	for arm, ok := range open {
		if ok && (at < 0 || e.seen.now(arm) > e.seen.now(at)) {
			at = arm
		}
	}
	return at
}

// bound returns the best reward that arm can reach with the pulls that are left.
func (e *RisingElimination) bound(arm int, left float64) float64 {
	ceiling, lag, n := cmp.Or(e.Ceiling, 1), cmp.Or(e.Lag, 7), e.seen.pulls(arm)
	y := e.seen.now(arm)
	switch {
	case left == 0:
		return y
	case n <= lag:
		return ceiling
	}
	return min(ceiling, y+(y-e.seen.after(arm, n-lag))/float64(lag)*left)
}

// Update records one outcome.
func (e *RisingElimination) Update(pull Pull, reward float64) { e.seen.add(pull.Arm, reward) }

// AnyScale reports that rewards may be on any scale, of which Ceiling is the end.
func (e *RisingElimination) AnyScale() bool { return true }

// String names the policy and its parameters.
func (e *RisingElimination) String() string {
	return fmt.Sprintf("RisingElimination(T=%v, ceiling=%v, lag=%v)", e.T, cmp.Or(e.Ceiling, 1), cmp.Or(e.Lag, 7))
}
