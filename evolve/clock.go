package evolve

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/llm"
)

// wallTime is the field of the Budget that limits the time of a run.
const wallTime = "WallTime"

// errWallTime is the cause of a context that ended with the budget's time.
var errWallTime = errors.New("evolve: the budget's WallTime is over")

// begin makes the context of steps, which outlives the caller's by the grace period, in which nothing new is
// sent, but not the limit on wall time. end ends it, and waits for the goroutine that watches it.
func (d *driver) begin(ctx context.Context) (traced context.Context, end context.CancelFunc) {
	steps, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		d.watch(ctx, steps, cancel)
	}()
	traced = llm.WithTrace(steps, &llm.Trace{Drain: ctx.Done(), Idle: d.queue.sayIdle})
	return traced, func() {
		cancel(context.Canceled)
		<-watched
	}
}

// watch ends steps when the time of the caller, and the grace after it, is over, or the budget's. It is the one
// place where a run looks at a clock, so that nothing that is decided depends on one.
func (d *driver) watch(ctx, steps context.Context, end context.CancelCauseFunc) {
	var wall <-chan time.Time
	// The time of earlier incarnations counts, and may be over already. It is not looked at before what took it
	// is made again: the run would end before it has caught up with its own journal.
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

// live returns a channel that is closed once every decision of earlier incarnations is made again.
func (d *driver) live() <-chan struct{} {
	if d.cfg.Journal != nil {
		return d.cfg.Journal.Live()
	}
	now := make(chan struct{})
	close(now)
	return now
}

// A queue counts the calls of a run that wait, in whatever queue on the way to a model, so that one more arm is
// drawn only where no call waits for the place that is free. It is safe for concurrent use.
type queue struct {
	waiting atomic.Int64
	idle    chan<- struct{}
}

// queued counts a call that waits, until served is called.
func (q *queue) queued() (served func()) {
	q.waiting.Add(1)
	return func() { q.waiting.Add(-1) }
}

// sayIdle notes that a place is free, if nothing waits.
func (q *queue) sayIdle() {
	if q.waiting.Load() > 0 {
		return
	}
	select {
	case q.idle <- struct{}{}:
	default: // known already
	}
}

// within returns ctx for a step, in which whatever asks a model by llm.Ask and has no Turn at hand (an operator's
// helper, a model that asks another) does so through turn. So it is in the budget, the journal and the result.
func (t *Turn) within(ctx context.Context) context.Context {
	return llm.WithTrace(ctx, &llm.Trace{Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		return t.Ask(ctx, "other", l, req)
	}})
}

// scoreOf is what the core has to know of a candidate.
func scoreOf(c eval.Candidate) allocation.Score {
	return allocation.Score{Valid: c.Result.Valid, Value: c.Result.Score}
}
