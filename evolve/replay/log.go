// Package replay plays policies over searches that were logged, to find out after a run what another policy
// would have done. It also estimates, from logged propensities, what another policy would have earned.
//
// These are two questions, and they need different logs.
//
// "How soon would this policy have found as good a program?" is answered by [Play], over the whole
// trajectories of searches that ran on their own, one per seed. An arm's score depends on its own pulls
// alone, so any order of pulls can be played over them, as far as they go. Use many greedy runs, or [Family]
// to draw arms from them again and again. A bandit's own log answers this only in part, as it has just the
// pulls that the bandit made.
//
// "What reward would this policy have got in the rounds of that run?" is answered by [OffPolicy], from the
// propensities in a bandit's log.
package replay

import (
	"fmt"
	"math"
)

// A Log is searches, and how a bandit allocated them if one did.
type Log struct {
	Task, Model string // their keys; "" if the log does not say, or files of several models are one log
	N           int    // children to a generation, and with a Breadth the most; 0 if the log does not say
	Breadth     string // what decided how many children each generation had; "" if N in each
	Arms        []Arm  // at least one
	Run         *Run   // nil unless the log is a bandit's
}

// An Arm is the course of one search.
type Arm struct {
	Name string    // its seed, or its column
	Best []float64 // its best score after 0, 1, ... pulls
	// Rewards is what the bandit was told after pulls 1, 2, ...; nil means Best from 1 on.
	Rewards []float64
	// Calls is how many model calls pulls 1, 2, ... were granted; nil if the log does not say. Policies are told
	// ([bandit.Round.Calls]).
	Calls []int
}

// Reward returns what a policy is told after pull n, counted from 1. It panics if n is not in 1..a.Pulls().
func (a Arm) Reward(n int) float64 {
	if a.Rewards != nil {
		return a.Rewards[n-1]
	}
	return a.Best[n]
}

// Pulls returns how many pulls the log has.
func (a Arm) Pulls() int {
	if a.Rewards != nil {
		return min(len(a.Best)-1, len(a.Rewards))
	}
	return len(a.Best) - 1
}

// A Run is how a bandit allocated the arms' generations. Lists are by round, in the order of draws.
type Run struct {
	Algo, Policy string    // the short name, and how the policy prints itself
	Seed         uint64    // of the draws
	Selections   []int     // the arm of each round
	Propensities []float64 // nil if the log has none, as the paper's
	Rewards      []float64 // what the policy was told
	Calls        []int     // that the round was granted, 0 if its search does not say; nil if the log does not
}

// validate returns an error if the log cannot be played.
func (l Log) validate() error {
	if len(l.Arms) == 0 {
		return fmt.Errorf("replay: the log has no search")
	}
	for _, a := range l.Arms {
		if len(a.Best) == 0 {
			return fmt.Errorf("replay: search %s has no score to start from", a.Name)
		}
		for n, v := range a.Best {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("replay: search %s: score %v in generation %d", a.Name, v, n)
			}
		}
		if err := a.validateCalls(); err != nil {
			return err
		}
	}
	if l.Run != nil {
		return l.Run.validate(len(l.Arms))
	}
	return nil
}

func (r Run) validate(arms int) error {
	switch n := len(r.Selections); {
	case len(r.Rewards) != n:
		return fmt.Errorf("replay: %d selections and %d rewards", n, len(r.Rewards))
	case r.Calls != nil && len(r.Calls) != n:
		return fmt.Errorf("replay: %d selections and calls of %d", n, len(r.Calls))
	case r.Propensities != nil && len(r.Propensities) != n:
		return fmt.Errorf("replay: %d selections and %d propensities", n, len(r.Propensities))
	}
	for i, arm := range r.Selections {
		switch {
		case arm < 0 || arm >= arms:
			return fmt.Errorf("replay: round %d pulls arm %d of %d", i, arm, arms)
		case r.Propensities != nil && !(r.Propensities[i] > 0 && r.Propensities[i] <= 1):
			return fmt.Errorf("replay: round %d has propensity %v: need more than 0, at most 1", i, r.Propensities[i])
		case math.IsNaN(r.Rewards[i]) || math.IsInf(r.Rewards[i], 0):
			return fmt.Errorf("replay: round %d has reward %v", i, r.Rewards[i])
		case r.Calls != nil && (r.Calls[i] < 0 || r.Calls[i] > mostCalls):
			return fmt.Errorf("replay: round %d was granted %d calls: need at least 0, and at most %d", i, r.Calls[i], mostCalls)
		}
	}
	return nil
}

// rising replaces scores by the best so far.
func rising(scores []float64) {
	for i := 1; i < len(scores); i++ {
		scores[i] = max(scores[i], scores[i-1])
	}
}
