package replay

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
)

// Of returns the log of a run that was just made, as reading its result file would. policy is what drew its
// pulls, as it prints itself, and seed that of the draws (evolve.Config.Policy and Seed), which a Result does
// not hold. Rounds that were cut short are left out, because the policy was told nothing of them.
//
// It returns an error if the run has no arm, or one without a score to start from.
func Of(r *evolve.Result, policy string, seed uint64) (Log, error) {
	l := Log{Arms: make([]Arm, len(r.Arms)), Run: &Run{Policy: policy, Seed: seed}}
	for i, arm := range r.Arms {
		l.Arms[i] = courseOf(fmt.Sprintf("arm %d", i), arm)
	}
	for _, round := range r.Rounds {
		l.Run.Selections = append(l.Run.Selections, round.Pull.Arm)
		l.Run.Propensities = append(l.Run.Propensities, round.Pull.Prob)
		l.Run.Rewards = append(l.Run.Rewards, round.Reward)
		l.Run.Calls = append(l.Run.Calls, round.Pull.Calls)
	}
	if err := l.validate(); err != nil {
		return Log{}, err
	}
	return l, l.assign()
}

// courseOf returns the scores of an arm by generation. Those that were cut short come last.
func courseOf(name string, arm evolve.ArmResult) Arm {
	a := Arm{Name: name, Best: []float64{arm.Start.Result.Score}}
	for _, g := range arm.Generations {
		if g.Partial {
			break
		}
		a.Best = append(a.Best, g.Best.Result.Score)
	}
	rising(a.Best)
	return a
}
