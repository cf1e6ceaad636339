package bandit

import (
	"cmp"
	"fmt"
)

// ASHA is asynchronous successive halving. An arm goes on to the next rung as soon as it is among the best of
// those that have come as far, without waiting for the others as [SuccessiveHalving] does. Rung k is reached
// with r·ηᵏ pulls. At each draw,
//
//  1. an arm on its way to a rung goes on, the furthest one first;
//  2. else an arm goes on from the highest rung where that is possible: it is one of the best ⌊m/η⌋ of
//     the m arms that have reached the rung, by their best rewards when they did, and has not gone on
//     yet;
//  3. else an arm is begun that was never pulled;
//  4. else, when all arms have begun and none may go on, the one with the best reward does.
//
// Ties go to the lowest arm. It is deterministic. The source has as many arms as it takes, so step 4 does not
// occur there.
//
// A rung is reached when the outcomes are in. An arm whose outcomes and pending pulls together make up a rung
// waits, so several draws in a row are spread over arms by steps 2 and 3.
//
// Source: L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht, A. Talwalkar, "A
// System for Massively Parallel Hyperparameter Tuning", MLSys 2020, algorithm 2. It ranks by the last reward.
// Here it is the best one, which for a search's best score so far is the last.
type ASHA struct {
	// T is the number of pulls of all arms in the whole run; 0 means not known. It sets MinPulls if that is
	// 0. It panics at the first draw if it is negative.
	T int
	// MinPulls is the number r of pulls that bring an arm to the first rung. 0 means that the arms share T
	// evenly over the rungs that they can fill, max(1, ⌊T/(K·(1 + ⌊log_η K⌋))⌋) for K arms, or 1 if T is not
	// known. It panics at the first draw if it is negative.
	MinPulls int
	// Eta is η; 0 means 4. It panics at the first draw if it is negative or 1.
	Eta int

	seen    courses
	reached []int // scratch
}

var _ Policy = (*ASHA)(nil)

// Probs gives mass 1 to the arm whose turn it is. Which arms are on which rung follows from the outcomes
// alone: a late one may still change it, so nothing of it is kept.
func (a *ASHA) Probs(p []float64, r Round) {
	eta := cmp.Or(a.Eta, 4)
	switch {
	case a.T < 0:
		panicf("ASHA.T is %v: need a number of pulls, or 0 for not known", a.T)
	case a.MinPulls < 0:
		panicf("ASHA.MinPulls is %v: need a number of pulls, or 0 for what T makes it", a.MinPulls)
	case eta < 2:
		panicf("ASHA.Eta is %v: need at least 2, or 0 for 4", a.Eta)
	}
	first := cmp.Or(a.MinPulls, max(1, a.T/(len(p)*(1+logFloor(len(p), eta)))))
	if arm := a.onItsWay(first, eta, r); arm >= 0 {
		p[arm] = 1
	} else if arm := a.promoted(first, eta, r); arm >= 0 {
		p[arm] = 1
	} else if arm := a.unpulled(r); arm >= 0 {
		p[arm] = 1
	} else {
		p[a.best(r)] = 1
	}
}

// onItsWay returns the open arm that is furthest of those between two rungs, or -1 if there are none.
func (a *ASHA) onItsWay(first, eta int, r Round) int {
	at, most := -1, 0
	for arm, open := range r.Open {
		if n := a.seen.pulls(arm) + r.Pending[arm]; open && n > most && !isRung(n, first, eta) {
			at, most = arm, n
		}
	}
	return at
}

// isRung reports whether n pulls are a rung: first·etaᵏ for some k.
func isRung(n, first, eta int) bool {
	for n > first && n%eta == 0 && n/eta >= first {
		n /= eta
	}
	return n == first
}

// promoted returns an arm that may go on, from the highest rung that has one, or -1.
func (a *ASHA) promoted(first, eta int, r Round) int {
	for level := a.highest(first, eta); level >= first; level /= eta {
		a.reached = a.reached[:0]
		for arm := range r.Open {
			if a.seen.pulls(arm) >= level {
				a.reached = append(a.reached, arm)
			}
		}
		a.seen.rank(a.reached, level)
		for _, arm := range a.reached[:len(a.reached)/eta] {
			if r.Open[arm] && a.seen.pulls(arm)+r.Pending[arm] == level {
				return arm
			}
		}
	}
	return -1
}

// highest returns the pulls of the highest rung that an arm has reached, or 0 if none has reached any.
func (a *ASHA) highest(first, eta int) int {
	most := 0
	for arm := range a.seen.best {
		most = max(most, a.seen.pulls(arm))
	}
	if most < first {
		return 0
	}
	level := first
	for level <= most/eta {
		level *= eta
	}
	return level
}

// unpulled returns the lowest open arm that was never pulled, or -1.
func (a *ASHA) unpulled(r Round) int {
	for arm, open := range r.Open {
		if open && a.seen.pulls(arm)+r.Pending[arm] == 0 {
			return arm
		}
	}
	return -1
}

// best returns the open arm with the best reward; of equals, the one with fewer pending pulls.
func (a *ASHA) best(r Round) int {
	at := -1
	for arm, open := range r.Open {
		if !open {
			continue
		}
		if at < 0 || cmp.Or(cmp.Compare(a.seen.now(arm), a.seen.now(at)), cmp.Compare(r.Pending[at], r.Pending[arm])) > 0 {
			at = arm
		}
	}
	return at
}

// Update records one outcome.
func (a *ASHA) Update(pull Pull, reward float64) { a.seen.add(pull.Arm, reward) }

// String names the policy and its parameters.
func (a *ASHA) String() string {
	return fmt.Sprintf("ASHA(T=%v, minPulls=%v, eta=%v)", a.T, a.MinPulls, cmp.Or(a.Eta, 4))
}

// logFloor returns ⌊log_b n⌋.
func logFloor(n, b int) int {
	k := 0
	for ; n >= b; n /= b {
		k++
	}
	return k
}
