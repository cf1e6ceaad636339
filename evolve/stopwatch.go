package evolve

import (
	"sync"
	"time"
)

// A stopwatch measures an evaluation, but for the time in which it waits in a queue, and ends it when it
// has taken the most that it may. It is safe for concurrent use.
type stopwatch struct {
	most  time.Duration
	timer *time.Timer // nil if it may take any time

	mu      sync.Mutex
	waiting int           // in queues
	since   time.Time     // when it ran last, if waiting is 0
	ran     time.Duration // before
}

// startWatch returns a stopwatch that calls end after most, if limited.
func startWatch(end func(), most time.Duration, limited bool) *stopwatch {
	w := &stopwatch{most: most, since: time.Now()}
	if limited {
		w.timer = time.AfterFunc(most, end)
	}
	return w
}

// queued stops the time until served is called.
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

// stop returns how long it ran.
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
