package evolve

import (
	"math"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// next asks the core what to do, where the time for evaluations has room for so many more children.
func (d *driver) next(most int, limited bool) (allocation.Decision, error) {
	d.asides = d.expected()
	d.core.Expect(d.asides)
	arms := d.arms()
	switch {
	case !limited || d.core.Exhausted(arms):
		return d.core.Next(arms, 0)
	case most > 0:
		return d.core.Next(arms, most)
	case len(d.pending) > 0: // they may take less than is expected
		return allocation.Decision{Kind: allocation.Wait}, nil
	}
	return d.core.End(allocation.Budget, "EvalTime"), nil
}

// scorable returns how many more children the time for evaluations has room for, beside those of the pulls that are
// pending, and whether that is limited. Draws that an earlier incarnation made have the room that there was then: an older
// library granted more.
func (d *driver) scorable() (most int, limited bool) {
	b := d.cfg.Budget
	if next, replaying := d.replaying(); replaying && next.Kind == journal.Draw {
		return next.Most, next.Most > 0
	}
	if b.EvalTime == 0 {
		return 0, false
	}
	left := b.EvalTime - d.shared.ledger.KeptEvalTime() - d.account.evalTime
	each := evalTimeEach(d.account.evalTime, d.scored, b.EvalWorst)
	for _, p := range d.pending {
		if left < b.EvalWorst {
			break // before the sum passes the least duration
		}
		left -= time.Duration(min(float64(p.most)*float64(each), math.MaxInt64/4))
	}
	if left < b.EvalWorst {
		return 0, true
	}
	return 1 + int((left-b.EvalWorst)/each), true
}

// expected returns how many calls the score of a child is expected to take beside the child's own: the mean so far of what
// evaluators and gates asked for a program, rounded up. Decisions that an earlier incarnation made have what it expected.
func (d *driver) expected() int {
	if next, replaying := d.replaying(); replaying {
		return next.Asides
	}
	if d.programs == 0 {
		return 0
	}
	return (d.account.judged + d.gated + d.programs - 1) / d.programs
}

// judge counts the calls that the scores of an outcome's programs took. Programs that were scored before took none. Where
// an arm tells of no children, its evaluations are the programs.
func (d *driver) judge(o *outcome) {
	if len(o.gen.Children) == 0 {
		d.programs += o.gen.Evaluations
	}
	for _, c := range o.gen.Children {
		if c.HasProgram() && !c.Duplicate {
			d.programs++
		}
	}
	d.gated += o.judged
}

// evalTimeEach returns how long the evaluation of a child is expected to take, where those of n children took a sum, and one
// may take worst: (sum + worst)/(n + 1). So a run begins with few, and is not held back by the worst case for long.
func evalTimeEach(sum time.Duration, n int, worst time.Duration) time.Duration {
	return max(1, (sum+worst)/time.Duration(n+1))
}
