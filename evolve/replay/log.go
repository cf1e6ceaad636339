// Package replay plays policies over searches that were logged, to find out after a run what another policy
// would have done. It also estimates, from logged propensities, what another policy would have earned.
//
// These are two questions, and they need different logs.
//
// "How soon would this policy have found as good a program?" is answered by [Play], over the whole
// trajectories of searches that ran on their own, one per seed. An arm's score depends on its own pulls
// alone, so any order of pulls can be played over them, as far as they go. Use many greedy runs. A bandit's
// own log answers this only in part, as it has just the pulls that the bandit made.
//
// "What reward would this policy have got in the rounds of that run?" is answered by [OffPolicy], from the
// propensities in a bandit's log.
package replay

import (
	"errors"
	"fmt"
	"math"
)

// A Log is searches, and how a bandit allocated them if one did.
type Log struct {
	Task string      // its key; "" if the log does not say
	Arms []Arm       // at least one
	Run  *Allocation // nil unless the log is a bandit's
}

// An Arm is the course of one search.
type Arm struct {
	Name string    // its seed
	Best []float64 // its best score after 0, 1, ... pulls
	// Rewards is what the bandit was told after pulls 1, 2, ...; nil means Best from 1 on.
	Rewards []float64
	// Calls is how many model calls pulls 1, 2, ... were granted, which policies are told; nil means one each.
	Calls []int
}

// Pulls returns how many pulls the log has.
func (a Arm) Pulls() int { return len(a.Best) - 1 }

// Reward returns what a policy is told after pull n, counted from 1. It panics if n is not in 1..a.Pulls().
func (a Arm) Reward(n int) float64 {
	if a.Rewards != nil {
		return a.Rewards[n-1]
	}
	return a.Best[n]
}

// After returns the best score of the pulls that a number of model calls has room for.
func (a Arm) After(calls int) float64 {
	n := 0
	for n < a.Pulls() && a.calls(n) <= calls {
		calls -= a.calls(n)
		n++
	}
	return a.Best[n]
}

// calls returns how many model calls pull n makes, counted from 0. Where the log ends that is not known: it is taken
// for as many as the last pull made, and for one if there was none.
func (a Arm) calls(n int) int {
	if len(a.Calls) == 0 {
		return 1
	}
	return a.Calls[min(n, len(a.Calls)-1)]
}

// An Allocation is how a bandit allocated the arms' generations. Lists are by round, in the order of draws.
type Allocation struct {
	Algo         string    // the policy's short name
	Seed         uint64    // of the draws
	Selections   []int     // the arm of each round
	Propensities []float64 // nil if the log has none, as the paper's
	Rewards      []float64 // what the policy was told
}

// validate returns an error if the log cannot be played.
func (l Log) validate() error {
	if len(l.Arms) == 0 {
		return errors.New("replay: the log has no search")
	}
	for _, a := range l.Arms {
		switch {
		case len(a.Best) == 0:
			return fmt.Errorf("replay: search %s has no score to start from", a.Name)
		case a.Calls != nil && len(a.Calls) != a.Pulls():
			return fmt.Errorf("replay: search %s: calls of %d pulls, of %d", a.Name, len(a.Calls), a.Pulls())
		case a.Rewards != nil && len(a.Rewards) != a.Pulls():
			return fmt.Errorf("replay: search %s: rewards of %d pulls, of %d", a.Name, len(a.Rewards), a.Pulls())
		}
		for n, v := range a.Best {
			if !finite(v) {
				return fmt.Errorf("replay: search %s: score %v in generation %d", a.Name, v, n)
			}
		}
		for n, calls := range a.Calls {
			if calls < 1 {
				return fmt.Errorf("replay: search %s: %d calls in generation %d: need at least 1", a.Name, calls, n+1)
			}
		}
	}
	if l.Run != nil {
		return l.Run.validate(len(l.Arms))
	}
	return nil
}

func (r Allocation) validate(arms int) error {
	switch n := len(r.Selections); {
	case len(r.Rewards) != n:
		return fmt.Errorf("replay: %d selections and %d rewards", n, len(r.Rewards))
	case r.Propensities != nil && len(r.Propensities) != n:
		return fmt.Errorf("replay: %d selections and %d propensities", n, len(r.Propensities))
	}
	for i, arm := range r.Selections {
		switch {
		case arm < 0 || arm >= arms:
			return fmt.Errorf("replay: round %d pulls arm %d of %d", i, arm, arms)
		case r.Propensities != nil && !(r.Propensities[i] > 0 && r.Propensities[i] <= 1):
			return fmt.Errorf("replay: round %d has propensity %v: need more than 0, at most 1", i, r.Propensities[i])
		case !finite(r.Rewards[i]):
			return fmt.Errorf("replay: round %d has reward %v", i, r.Rewards[i])
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
