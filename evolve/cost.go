package evolve

import (
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/internal/costs"
	"github.com/evoalloc/evoalloc/evolve/internal/ledger"
)

// learn records what a pull came to, so that later draws know what a call of its arm costs. Failed calls count like
// answered ones, because they cost as much.
func (a *account) learn(p bandit.Pull, gen *Generation, evalTime time.Duration, whole bool, prices ledger.Prices) {
	came := ledger.Amounts{Evaluations: gen.Evaluations, EvalTime: evalTime}
	answers := 0
	for attempts := range gen.EachCall {
		used, _ := prices.Used(ledger.Size{}, attempts)
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
func (b Budget) costs(l *costs.Learner) []float64 {
	scarcest, most := limit{}, 0.0
	for _, row := range b.limits(l.Spent()) {
		if share := row.spent / row.most; row.summed && row.ends && row.most > 0 && share > most {
			scarcest, most = row, share
		}
	}
	if most == 0 || scarcest.even {
		return nil
	}
	return l.Costs(scarcest.Amount)
}
