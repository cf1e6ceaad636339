package evolve

import (
	"context"
	"errors"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/llm"
)

// wallTime is the field of the Budget that limits the time of a run.
const wallTime = "WallTime"

// errWallTime is the cause of a context that ended with the budget's time. It tells that end from Ctrl-C: one is
// a limit that stands in the journal, the other a pause.
var errWallTime = errors.New("evolve: the budget's WallTime is over")

// begin makes the context of steps. It outlives the caller's context by the grace period, in which nothing new is
// sent, and ends at the limit on wall time. end ends it, and waits for the goroutine that watches it.
//
// The values of the caller's context stay, among them what else its Trace has.
func (d *driver) begin(ctx context.Context) (traced context.Context, end context.CancelFunc) {
	steps, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		d.watch(ctx, steps, cancel)
	}()
	traced = llm.WithTrace(steps, &llm.Trace{Drain: ctx.Done(), Idle: d.sayIdle})
	return traced, func() {
		cancel(context.Canceled)
		<-watched // whoever starts a goroutine waits for it
	}
}

// watch ends steps when the caller's context has ended and the grace period is over, or when the budget's time
// is. No other part of a run acts on a clock, so no decision depends on one.
func (d *driver) watch(ctx, steps context.Context, end context.CancelCauseFunc) {
	var wall <-chan time.Time
	// The time of earlier incarnations counts, and may be more than the limit already. The timer starts when
	// replay is over. Otherwise such a run would end before it has made again what its journal holds.
	live := d.live()
	for {
		select {
		case <-live:
			live = nil
			if limit := d.cfg.Budget.WallTime; limit > 0 && !d.over() {
				t := time.NewTimer(limit - d.elapsed())
				defer t.Stop()
				wall = t.C
			}
		case <-wall:
			end(errWallTime)
			return
		case <-ctx.Done():
			t := time.NewTimer(d.cfg.Grace)
			defer t.Stop()
			select {
			case <-t.C:
			case <-steps.Done():
			case <-wall:
			}
			end(context.Cause(ctx))
			return
		case <-steps.Done():
			return
		}
	}
}

// live returns a channel that is closed once every decision of earlier incarnations is made again. Without a
// journal that is at once.
func (d *driver) live() <-chan struct{} {
	if d.cfg.Journal != nil {
		return d.cfg.Journal.Live()
	}
	now := make(chan struct{})
	close(now)
	return now
}

// sayIdle notes that a place for model calls is free. A queue that reports a free place knows only its own calls. One more
// arm is drawn only if no call of the run waits anywhere, because such a call may be about to take the place.
func (d *driver) sayIdle() {
	if d.shared.queued.N() == 0 {
		d.idle.Set()
	}
}

// within returns ctx for a step, in which llm.Ask goes through t. Code that has no Turn at hand, such as an
// operator's helper or a model that asks another, calls llm.Ask. Its calls are then in the budget, the journal
// and the result too.
func (t *Turn) within(ctx context.Context) context.Context {
	return llm.WithTrace(ctx, &llm.Trace{Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		return t.Ask(ctx, "other", l, req)
	}})
}

// scoreOf returns what the core has to know of a candidate.
func scoreOf(c eval.Candidate) allocation.Score {
	return allocation.Score{Valid: c.Result.Valid, Value: c.Result.Score}
}
