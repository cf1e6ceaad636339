package step

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A Count is how many wait: calls in the queues of a run, calls of a step that pause before a retry. It is safe for
// concurrent use. The zero value is ready.
type Count struct{ n atomic.Int64 }

// Begin counts one that waits, until end is called.
func (c *Count) Begin() (end func()) {
	c.n.Add(1)
	return func() { c.n.Add(-1) }
}

// N returns how many wait.
func (c *Count) N() int { return int(c.n.Load()) }

// A Signal holds a value once something has happened, however often it did. Whoever receives the value looks for
// itself what has happened.
type Signal chan struct{}

// NewSignal returns a Signal of something that has not happened.
func NewSignal() Signal { return make(Signal, 1) }

// Set says that it has happened. It never blocks.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default: // known already
	}
}

// Closed reports whether c is closed. A nil channel is not.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A Stopwatch measures how long an evaluation takes, without the time in which it waits in a queue. It ends an
// evaluation that has taken the most that it may.
//
// Waiting does not count because it depends on what else runs. If it did, a program would be invalid for being
// evaluated on a busy machine. It is safe for concurrent use, as an evaluator may wait in several queues at once.
type Stopwatch struct {
	most  time.Duration
	timer *time.Timer

	mu      sync.Mutex
	waiting int           // queues in which it waits now
	since   time.Time     // when it last began to run, if waiting is 0
	ran     time.Duration // how long it ran before that
}

// StartWatch returns a Stopwatch that runs. It calls end after most; 0 means never.
func StartWatch(end func(), most time.Duration) *Stopwatch {
	most = cmp.Or(most, math.MaxInt64)
	return &Stopwatch{most: most, since: time.Now(), timer: time.AfterFunc(most, end)}
}

// Queued stops the Stopwatch until served is called.
func (w *Stopwatch) Queued() (served func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting++; w.waiting == 1 {
		w.ran += time.Since(w.since)
		w.timer.Stop()
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting--; w.waiting == 0 {
			w.since = time.Now()
			w.timer.Reset(w.most - w.ran)
		}
	}
}

// Stop stops the Stopwatch for good and returns how long it ran.
func (w *Stopwatch) Stop() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer.Stop(); w.waiting > 0 {
		return w.ran
	}
	return w.ran + time.Since(w.since)
}

// ErrWallTime is the cause of a context that ended with the budget's time. It tells that end from Ctrl-C: one is a
// limit that stands in the journal, the other a pause.
var ErrWallTime = errors.New("evolve: the budget's WallTime is over")

// A Clock says when steps end: when the run's time is over, or when the caller has gone and the grace period is over.
// No other part of a run acts on a clock, so no decision depends on one.
type Clock struct {
	Grace time.Duration // for which steps outlive the caller's context
	Limit time.Duration // on the time of the run; 0 means none
	// Live is closed when replay is over. The time of earlier incarnations counts, and may be more than the limit
	// already. With a limit before Live such a run would end before it has made again what its journal holds.
	Live <-chan struct{}
	// Elapsed returns the time that the run has taken, and whether the limit still holds: not for a run that was
	// over.
	Elapsed func() (took time.Duration, holds bool)
}

// Steps returns the context of steps. It outlives ctx by the grace period, and ends at the limit with [ErrWallTime]
// as its cause. The values of ctx stay. end ends it, and waits for the goroutine that watches it.
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
	var wall, grace <-chan time.Time
	live, gone := c.Live, ctx.Done()
	for {
		select {
		case <-live:
			live = nil
			if took, holds := c.Elapsed(); c.Limit > 0 && holds {
				t := time.NewTimer(c.Limit - took)
				defer t.Stop()
				wall = t.C
			}
		case <-gone:
			gone = nil
			t := time.NewTimer(c.Grace)
			defer t.Stop()
			grace = t.C
		case <-wall: // in the grace period the caller is the cause
			end(cmp.Or(context.Cause(ctx), ErrWallTime))
			return
		case <-grace:
			end(context.Cause(ctx))
			return
		case <-steps.Done():
			return
		}
	}
}
