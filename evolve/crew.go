package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A crew is the goroutines of a [Run]: each steps the arm of one pull, while the run's own decides.
type crew struct {
	*allocation
	landed chan landing
	early  []landing     // those that wait for their turn in replay
	idle   chan struct{} // holds a value when a place for model calls was seen free
}

// A landing is the end of a flight.
type landing struct {
	flight flight
	gen    Generation
	err    error
	// refused is the limit that left no room for something the step asked for, "" if none did.
	refused string
}

// run draws pulls and takes their outcomes in until there is a reason to stop.
func (a *allocation) run(ctx context.Context) (*Result, error) {
	c := &crew{allocation: a, landed: make(chan landing), idle: make(chan struct{}, 1)}
	steps, cancel := c.begin(ctx)
	defer cancel()
	for {
		c.fill(ctx, steps)
		if len(a.flying) == 0 {
			return a.finish()
		}
		if a.stop == StopError || a.stop != "" && !a.over() {
			cancel() // what is in flight is no longer wanted
		}
		if l, ok := c.await(steps); ok {
			a.land(ctx, l)
		} else {
			c.launch(ctx, steps)
		}
	}
}

// fill begins pulls until InFlight are under way or none can be drawn now. In replay it begins those
// that an earlier life began here.
func (c *crew) fill(ctx, steps context.Context) {
	for {
		if c.cfg.Journal.stopsNext("WallTime") { // no decision of the core's: time is not replayed
			c.end(StopBudget, "WallTime", nil)
		}
		draws, replaying := c.cfg.Journal.drawsNext()
		if replaying && !draws || !replaying && len(c.flying) >= c.cfg.InFlight || !c.launch(ctx, steps) {
			return
		}
	}
}

// launch begins a pull in a goroutine of its own, if one can be drawn now.
func (c *crew) launch(ctx, steps context.Context) bool {
	f, ok := c.draw(ctx, steps, 0)
	if ok {
		if f.ended {
			steps = withEnded(steps, f.pull.ID)
		}
		go func() {
			l := landing{flight: f, err: fmt.Errorf("evolve: Step of arm %d ended its goroutine", f.pull.Arm)}
			defer func() { c.landed <- l }() // in that case too
			var refused refusals
			ctx := context.WithValue(steps, refusalsKey{}, &refused)
			if err := guard(fmt.Sprintf("Step of arm %d", f.pull.Arm), func() { l.gen, l.err = f.step(ctx) }); err != nil {
				l.err = err
			}
			l.refused = refused.first()
		}()
	}
	return ok
}

// await returns the landing to be taken in next: the first that comes, or in replay the one that an
// earlier life took in, while others wait. Once the run stops, what is left is taken in by the order of
// draws, so that replay does the same. It reports false if a place for model calls stands idle instead,
// and one more arm may be advanced to fill it.
func (c *crew) await(steps context.Context) (landing, bool) {
	next, replaying := c.cfg.Journal.landsNext()
	for {
		for i, l := range c.early {
			if c.stop == "" && (!replaying || l.flight.pull.ID == next) {
				c.early = slices.Delete(c.early, i, i+1)
				return l, true
			}
		}
		if c.stop != "" && len(c.early) == len(c.flying) {
			slices.SortFunc(c.early, func(a, b landing) int { return cmp.Compare(a.flight.pull.ID, b.flight.pull.ID) })
			l := c.early[0]
			c.early = c.early[1:]
			return l, true
		}
		var idle <-chan struct{}
		if c.stop == "" && !replaying && c.cfg.InFlight > 1 && len(c.flying)/2 < c.cfg.InFlight {
			idle = c.idle
		}
		select {
		case l := <-c.landed:
			c.early = append(c.early, l)
			if l.err != nil && errors.Is(context.Cause(steps), errWallTime) {
				// Before it is taken in, whatever the arm makes of it: replay stops first, too.
				c.end(StopBudget, "WallTime", nil)
			}
		case <-idle:
			return landing{}, false
		}
	}
}

// begin makes the context of steps, which outlives the caller's by the grace period, in which nothing
// new is sent, but not the limit on wall time.
func (c *crew) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	steps, end := context.WithCancelCause(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(ctx, steps, end)
	}()
	var waiting atomic.Int64 // calls, in whatever queue
	inner := llm.WithTrace(steps, &llm.Trace{
		Drain:  ctx.Done(),
		Queued: func() func() { waiting.Add(1); return func() { waiting.Add(-1) } },
		Idle: func() {
			if waiting.Load() > 0 {
				return
			}
			select {
			case c.idle <- struct{}{}:
			default: // known already
			}
		},
	})
	return withLedger(inner, c.ledger), func() {
		end(context.Canceled)
		<-watched
	}
}

// watch ends steps when the time of the caller, and the grace after it, is over, or the budget's.
func (c *crew) watch(ctx, steps context.Context, end context.CancelCauseFunc) {
	var wall <-chan time.Time
	live := c.cfg.Journal.replayed() // time is not up before what took it is made again
	for {
		select {
		case <-live:
			live = nil
			if limit := c.cfg.Budget.WallTime; limit > 0 && !c.over() {
				t := time.NewTimer(limit - c.elapsed())
				defer t.Stop()
				wall = t.C
			}
		case <-wall:
			end(errWallTime)
			return
		case <-ctx.Done():
			t := time.NewTimer(c.cfg.Grace)
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

// errWallTime is the cause of a context that ended with the budget's time.
var errWallTime = errors.New("evolve: the budget's WallTime is over")
