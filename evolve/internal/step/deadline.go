package step

import (
	"context"
	"errors"
	"time"
)

// ErrWallTime is the cause of a context that ended with the budget's time. It tells that end from Ctrl-C: one is
// a limit that stands in the journal, the other a pause.
var ErrWallTime = errors.New("evolve: the budget's WallTime is over")

// A Clock says when steps end: when the run's time is over, or when the caller has gone and the grace period is over.
// No other part of a run acts on a clock, so no decision depends on one.
type Clock struct {
	Grace time.Duration // for which steps outlive the caller's context
	Limit time.Duration // on the time of the run; 0 means none
	// Live is closed when replay is over. The time of earlier incarnations counts, and may be more than the limit already.
	// With a limit before Live such a run would end before it has made again what its journal holds.
	Live <-chan struct{}
	// Elapsed returns the time that the run has taken, and whether the limit still holds: not for a run that was over.
	Elapsed func() (took time.Duration, holds bool)
}

// Steps returns the context of steps. It outlives ctx by the grace period, and ends at the limit with
// [ErrWallTime] as its cause. The values of ctx stay. end ends it, and waits for the goroutine that watches it.
func (c Clock) Steps(ctx context.Context) (steps context.Context, end context.CancelFunc) {
	steps, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(ctx, steps, cancel)
	}()
	return steps, func() {
		cancel(context.Canceled)
		<-watched // whoever starts a goroutine waits for it
	}
}

func (c Clock) watch(ctx, steps context.Context, end context.CancelCauseFunc) {
	var wall <-chan time.Time
	live := c.Live
	for {
		select {
		case <-live:
			live = nil
			if took, holds := c.Elapsed(); c.Limit > 0 && holds {
				t := time.NewTimer(c.Limit - took)
				defer t.Stop()
				wall = t.C
			}
		case <-wall:
			end(ErrWallTime)
			return
		case <-ctx.Done():
			t := time.NewTimer(c.Grace)
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
