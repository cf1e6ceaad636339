package evolve

import (
	"context"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// begin makes the context of steps, in which nothing new is sent once the caller's has ended. end ends it.
func (d *driver) begin(ctx context.Context) (traced context.Context, end context.CancelFunc) {
	steps, end := step.Clock{Grace: d.cfg.Grace, Limit: d.cfg.Budget.WallTime, Live: d.live(),
		Elapsed: func() (time.Duration, bool) { return d.elapsed(), !d.over() }}.Steps(ctx)
	return llm.WithTrace(steps, &llm.Trace{Drain: ctx.Done(), Idle: d.sayIdle}), end
}

// live returns a channel that is closed once every decision of earlier incarnations is made again.
func (d *driver) live() <-chan struct{} {
	if d.shared.Journal != nil {
		return d.shared.Journal.Live()
	}
	now := make(chan struct{})
	close(now)
	return now
}

// sayIdle notes that a slot for model calls is free. A queue that reports a free slot knows only its own calls, so one
// more arm is drawn only if no call of the run waits anywhere, as it may be about to take the slot.
func (d *driver) sayIdle() {
	if d.shared.Queued.N() == 0 {
		d.idle.Set()
	}
}

// next asks the core what to do, where the time for evaluations has room for so many more children.
func (d *driver) next(most int, limited bool) (allocation.Decision, error) {
	d.asides = d.expected()
	d.costs = d.priced()
	d.core.Expect(d.asides, d.costs)
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

// scorable returns how many more children the time for evaluations has room for, beside those of pending pulls, and
// whether that is limited. Draws of earlier incarnations have the room of then: an older library granted more.
func (d *driver) scorable() (most int, limited bool) {
	b := d.cfg.Budget
	if next, replaying := d.replaying(); replaying && next.Kind == record.Draw {
		if d.arms()[*next.Arm].Calls > next.Calls && d.shared.Journal.RaisedLater() {
			return next.Calls, next.Calls > 0 // there were fewer calls then
		}
		return next.Most, next.Most > 0
	}
	if b.EvalTime == 0 {
		return 0, false
	}
	room := step.EvalTime{Left: b.EvalTime - d.shared.Ledger.KeptEvalTime() - d.account.evalTime, Worst: b.EvalWorst,
		Sum: d.account.evalTime, Scored: d.scored}
	var pending []int
	for _, p := range d.pending {
		pending = append(pending, p.most)
	}
	return room.Room(pending), true
}

// expected returns how many calls the score of a child is expected to take beside the child's own: the mean so far of
// what evaluators and gates asked for a program, rounded up; for earlier decisions, what was expected then.
func (d *driver) expected() int {
	if next, replaying := d.replaying(); replaying {
		return next.Asides
	}
	if d.programs == 0 {
		return 0
	}
	return (d.account.judged + d.gated + d.programs - 1) / d.programs
}

// priced returns what a call of each arm is expected to cost. Draws that an earlier incarnation made have what it
// expected, and those of an older library expected nothing.
func (d *driver) priced() []float64 {
	if next, replaying := d.replaying(); replaying {
		return next.Costs
	}
	return d.cfg.Budget.costs(d.account.costs)
}

// judge counts the calls that the scores of an outcome's programs took. Programs that were scored before took
// none, but for those of sessions. Where an arm tells of no children, its evaluations are the programs. A child for
// which there was nothing to ask counts as one, as its Prepare may have asked for much to find that out.
func (d *driver) judge(o *outcome) {
	if len(o.gen.Children) == 0 {
		d.programs += o.gen.Evaluations
	}
	sessions := make(map[int]bool)
	for _, c := range o.gen.Asides {
		sessions[c.Child] = true
	}
	for _, c := range o.gen.Children {
		if c.HasProgram() && !c.Duplicate || sessions[c.ID] {
			d.programs++
		}
	}
	d.programs += o.Idle
	d.gated += o.Judged
}
