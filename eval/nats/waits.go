package nats

import (
	"maps"
	"sync"
)

// waits are the jobs that a run waits for. They are safe for concurrent use.
type waits struct {
	mu     sync.Mutex
	by     map[string]*wait // by key of the job
	closed error            // why no evaluation can succeed any more, or nil
	stats  Stats
}

// A wait is the evaluations that wait for one job, and its outcome.
type wait struct {
	evaluations int
	served      []func()      // called when a worker begins the job
	begun       bool          // whether one has
	done        chan struct{} // closed when there is a record or an error
	record      record
	err         error
}

func newWaits() *waits { return &waits{by: map[string]*wait{}} }

// join has an evaluation wait for a job. served is called when a worker begins the job.
func (w *waits) join(key string, served func()) (*wait, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed != nil {
		return nil, w.closed
	}
	one := w.by[key]
	if one == nil {
		one = &wait{done: make(chan struct{})}
		w.by[key] = one
	}
	one.evaluations++
	one.served = append(one.served, served)
	if one.begun {
		served()
	}
	return one, nil
}

// leave ends the wait of an evaluation. It reports whether nobody waits any more for a job without an outcome.
func (w *waits) leave(key string, one *wait) (abandoned bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.evaluations--; one.evaluations > 0 || w.by[key] != one {
		return false
	}
	delete(w.by, key)
	return true
}

// begin records that a worker begins a job.
func (w *waits) begin(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.by[key]; one != nil && !one.begun {
		one.begun = true
		for _, served := range one.served {
			served()
		}
	}
}

// has reports whether an evaluation waits for a job.
func (w *waits) has(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.by[key] != nil
}

// end gives the evaluations of a job its record. known means that it was there before this run asked for it.
func (w *waits) end(key string, r record, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.by[key]
	if one == nil {
		return
	}
	w.stats.Done++
	if known {
		w.stats.Recalled++
	} else {
		w.stats.Redelivered += max(r.Tries, 1) - 1
	}
	one.record = r
	w.finish(key, one)
}

// fail ends all evaluations with an error.
func (w *waits) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, one := range maps.Clone(w.by) {
		one.err = err
		w.finish(key, one)
	}
}

// close fails all evaluations, present and future.
func (w *waits) close(err error) {
	w.mu.Lock()
	w.closed = err
	w.mu.Unlock()
	w.fail(err)
}

// finish has the evaluations of a job return. The caller holds the lock.
func (w *waits) finish(key string, one *wait) {
	delete(w.by, key)
	close(one.done)
}

// snapshot returns the statistics, but for the workers'.
func (w *waits) snapshot() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.stats
	s.Waiting = len(w.by)
	for _, one := range w.by {
		if one.begun {
			s.Begun++
		}
	}
	return s
}
