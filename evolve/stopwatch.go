package evolve

import (
	"sync"
	"time"
)

// A stopwatch measures how long an evaluation takes, without the time in which it waits in a queue. It ends an
// evaluation that has taken the most that it may.
//
// Waiting does not count because it depends on what else runs. If it did, a program would be invalid for being
// evaluated on a busy machine. It is safe for concurrent use, as an evaluator may wait in several queues at once.
type stopwatch struct {
	most  time.Duration
	timer *time.Timer // nil if it may take any time

	mu      sync.Mutex
	waiting int           // queues in which it waits now
	since   time.Time     // when it last began to run, if waiting is 0
	ran     time.Duration // how long it ran before that
}

// startWatch returns a stopwatch that runs. If limited, it calls end after most.
func startWatch(end func(), most time.Duration, limited bool) *stopwatch {
	w := &stopwatch{most: most, since: time.Now()}
	if limited {
		w.timer = time.AfterFunc(most, end)
	}
	return w
}

// queued stops the stopwatch until served is called.
func (w *stopwatch) queued() (served func()) {
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

// stop stops the stopwatch for good and returns how long it ran.
func (w *stopwatch) stop() time.Duration {
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
