package step

import (
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
	timer *time.Timer // nil if it may take any time

	mu      sync.Mutex
	waiting int           // queues in which it waits now
	since   time.Time     // when it last began to run, if waiting is 0
	ran     time.Duration // how long it ran before that
}

// StartWatch returns a Stopwatch that runs. If limited, it calls end after most.
func StartWatch(end func(), most time.Duration, limited bool) *Stopwatch {
	w := &Stopwatch{most: most, since: time.Now()}
	if limited {
		w.timer = time.AfterFunc(most, end)
	}
	return w
}

// Queued stops the Stopwatch until served is called.
func (w *Stopwatch) Queued() (served func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting++; w.waiting == 1 {
		w.ran += time.Since(w.since)
		if w.timer != nil {
			w.timer.Stop()
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting--; w.waiting == 0 {
			w.since = time.Now()
			if w.timer != nil {
				w.timer.Reset(w.most - w.ran)
			}
		}
	}
}

// Stop stops the Stopwatch for good and returns how long it ran.
func (w *Stopwatch) Stop() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.waiting > 0 {
		return w.ran
	}
	return w.ran + time.Since(w.since)
}
