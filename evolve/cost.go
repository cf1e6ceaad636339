package evolve

import (
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
)

// learn records what a pull came to, so that later draws know what a call of its arm costs. Failed calls count like
// answered ones, because they cost as much.
func (a *account) learn(p bandit.Pull, gen *Generation, evalTime time.Duration, whole bool, prices step.Prices) {
	came := step.Amounts{Evaluations: gen.Evaluations, EvalTime: evalTime}
	answers := 0
	for attempts := range gen.EachCall {
		used, _ := prices.Used(step.Size{}, attempts)
		came = came.Plus(used)
		came.Calls++
		if answered(attempts) {
			answers++
		}
	}
	a.costs.Add(p.Arm, p.Calls, came, whole && answers > 0)
}

// costs returns what a call of each arm is expected to cost, as [bandit.Round.Costs] has it, in the unit of the limit
// of which the largest share is spent: of those that one call may use up more of than another, in the order of the
// table. It returns nil without such a limit, or where most is spent of one that every call uses up alike.
func (b Budget) costs(l *allocation.Learner) []float64 {
	spent := l.Spent()
	var scarcest *limit
	most := 0.0
	for i := range limits {
		row := &limits[i]
		if row.passed == nil || !row.ends || row.value(b) == 0 {
			continue
		}
		if share := row.amount(spent) / row.value(b); share > most {
			scarcest, most = row, share
		}
	}
	if scarcest == nil || scarcest.even {
		return nil
	}
	return l.Costs(func(a step.Amounts) float64 { return scarcest.amount(a) })
}
