package policies

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve/replay"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

// estimateTable shows what each policy would have earned in the rounds of a bandit's result, from the
// propensities in it.
func (o *options) estimateTable(all []race.Contender) (string, error) {
	if o.limit < 0 {
		return "", cli.Usagef("--T-cap-per-arm is %d: need at least 0", o.limit)
	}
	l, err := replay.ReadFiles(o.estimate)
	if err != nil {
		return "", cli.Usagef("--estimate: %w", err)
	}
	if l.Run == nil {
		return "", cli.Usagef("--estimate: %s is no bandit's result", o.estimate)
	}
	s := sim.Setting{Family: replay.Family{Name: "log", Arms: l.Arms}, Arms: len(l.Arms), N: meanCalls(l.Run),
		Rounds: len(l.Run.Selections)}
	var rows [][]string
	for _, c := range all {
		steps, err := l.Along(func() bandit.Policy { return c.New(s) }, o.limit)
		if err != nil {
			return "", cli.Usagef("--estimate: %w", err)
		}
		e, err := replay.OffPolicy(steps)
		if err != nil {
			rows = append(rows, []string{c.Name, err.Error()})
			continue
		}
		rows = append(rows, []string{c.Name, fmt.Sprint(e.SelfNormalized), fmt.Sprint(e.IPS),
			fmt.Sprintf("%.1f of %d", e.Effective, e.Steps), fmt.Sprintf("%.1f", e.Largest), fmt.Sprint(e.Blind),
			e.Warning()})
	}
	title := fmt.Sprintf("mean reward in the rounds of %s's run, which was %.4f: estimates from its propensities [95 "+
		"%%].\nA blind round could pull no other arm, though the policy might: what it missed is in no log", l.Run.Algo,
		sim.Summarize(l.Run.Rewards).Mean.Value)
	return table(title, []string{"policy", "self-normalized", "inverse propensity", "rounds left", "largest weight",
		"blind rounds", "not to be relied on, as"}, rows), nil
}

// meanCalls returns how many calls a round of the run made on average, at least 1. A policy's horizon is so many for
// each round.
func meanCalls(r *replay.Run) int {
	sum := 0
	for _, n := range r.Calls {
		sum += n
	}
	return max(1, int(math.Round(float64(sum)/float64(max(1, len(r.Selections))))))
}
