package nats

import (
	"maps"
	"slices"
	"time"
)

// A service is what a run knows of the workers that serve it.
type service struct {
	workers workers
	others  map[string]time.Time // digests that workers of the task serve in place of the run's, when last heard
	heard   time.Time            // when a worker of the run's digest was last heard from; zero before the first
	warned  bool                 // whether the loss of the last worker was logged
	advised bool                 // whether the advice to raise InFlight was logged
}

func newService() service { return service{workers: newWorkers(), others: map[string]time.Time{}} }

// maxOthers bounds the other digests that are remembered.
const maxOthers = 100

// heard records that a worker of the run's digest is there, and reports whether the worker is new.
func (t *table) heard(from sender, s workerState) (added bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.service.heard, t.service.warned = s.heard, false
	return t.service.workers.add(from, s)
}

// heardOther records that a worker of another digest is there.
func (t *table) heardOther(digest string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.service.others) < maxOthers {
		t.service.others[digest] = now
	}
}

// others returns the digests that workers of the task serve in place of the run's.
func (t *table) others() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.service.others))
}

// slept takes in that the process did not run for a while, because the process or its machine was stopped. No worker
// could be heard during that time. So the time does not count towards the silence of a worker.
func (t *table) slept(d time.Duration, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	later := func(at time.Time) time.Time {
		if at = at.Add(d); at.After(now) {
			return now
		}
		return at
	}
	s := &t.service
	for from, state := range s.workers.states {
		state.heard = later(state.heard)
		s.workers.states[from] = state
	}
	for digest, heard := range s.others {
		s.others[digest] = later(heard)
	}
	if !s.heard.IsZero() {
		s.heard = later(s.heard)
	}
	t.since = later(t.since)
}

// An advice is what a run must be told about its workers. Zero fields mean that all is well.
type advice struct {
	hopeless  bool // no worker has answered for too long: evaluations must fail
	waiting   int  // jobs that wait while no worker is left; reported once
	idleSlots int  // slots of all workers, if some stay idle because too few jobs may be in flight; reported once
}

// advise forgets workers that have left, and returns the advice for the run.
func (t *table) advise(cfg Config, now time.Time) (a advice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.service
	s.workers.forget(now)
	maps.DeleteFunc(s.others, func(_ string, heard time.Time) bool { return now.Sub(heard) > silence })
	if slots, _ := s.workers.slots(); !s.advised && t.wanted >= cfg.InFlight && slots > cfg.InFlight {
		s.advised, a.idleSlots = true, slots
	}
	if s.workers.len() > 0 || t.wanted == 0 {
		return a
	}
	if s.heard.IsZero() {
		a.hopeless = now.Sub(t.since) > cfg.Unserved
		return a
	}
	if !s.warned {
		s.warned, a.waiting = true, t.wanted
	}
	since := s.heard
	if t.since.After(since) {
		since = t.since
	}
	a.hopeless = cfg.Gone >= 0 && now.Sub(since) > cfg.Gone
	return a
}
