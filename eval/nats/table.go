package nats

import (
	"sync"
	"time"
)

// A table is what a run knows of its jobs and workers. It does no I/O. Each method takes in an event; some return a
// request, which the [Evaluator] then makes and reports with posted or canceled. A job has at most one request under
// way, so answers cannot be confused. A table is safe for concurrent use.
type table struct {
	mu      sync.Mutex
	entries map[string]*entry // by key: jobs in demand or with a request under way
	wanted  int               // entries in demand
	since   time.Time         // when the first of these joined
	service service
	stats   Stats
	refused bool  // whether the server refused to queue a job since takeRefused was called
	closed  error // why no evaluation can succeed any more, or nil
}

// An entry is what a run knows of one job.
type entry struct {
	demand   *demand   // nil if no evaluation waits for the job
	request  request   // under way
	presence presence  // in the run's queue
	scored   bool      // whether a result came during the request
	asked    time.Time // when the server was last asked; zero means overdue
}

// A request is one to the server about a job.
type request string

const (
	nothing request = ""
	post    request = "post"   // look for a result, and queue the job if there is none
	cancel  request = "cancel" // remove the job from the queue, and have its worker stop
)

// A presence says whether a job is in the run's queue.
type presence int

const (
	absent presence = iota
	uncertain
	queued
)

// A postStatus is how a post ended.
type postStatus int

const (
	isQueued  postStatus = iota
	unchanged            // not queued: there is a result, the server refused, or the look-up was not answered
	unknown              // the job may be queued: the server did not answer
)

func newTable() *table {
	return &table{entries: map[string]*entry{}, service: newService()}
}

// join has an evaluation wait for a job. The evaluation must make the request that join returns.
func (t *table) join(j job, now time.Time) (*demand, request, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return nil, nothing, t.closed
	}
	e, known := t.entries[j.Key]
	if known && e.demand != nil {
		e.demand.waiters++
		return e.demand, nothing, nil
	}
	if !known {
		e = &entry{asked: now, request: post}
		t.entries[j.Key] = e
	}
	if t.wanted == 0 {
		t.since = now
	}
	t.wanted++
	e.demand = &demand{job: j, waiters: 1, began: make(chan struct{}), done: make(chan struct{})}
	if known { // the job is posted when the request under way has ended
		return e.demand, nothing, nil
	}
	return e.demand, post, nil
}

// leave ends the wait of an evaluation that joined. The last one to leave a job without a result cancels it.
func (t *table) leave(d *demand) request {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[d.Key]
	if d.waiters--; d.waiters > 0 || e == nil || e.demand != d {
		return nothing
	}
	t.drop(e)
	return t.settle(d.Key, e)
}

// drop ends the demand for a job.
func (t *table) drop(e *entry) {
	e.demand = nil
	t.wanted--
}

// settle returns the cancellation of a job that nobody wants if the job may be in the queue, and forgets the job
// otherwise.
func (t *table) settle(key string, e *entry) request {
	switch {
	case e.demand != nil || e.request != nothing:
		return nothing
	case e.presence == absent:
		delete(t.entries, key)
		return nothing
	}
	e.request = cancel
	return cancel
}

// posted takes in how a post ended. A job that was not queued becomes overdue.
func (t *table) posted(key string, how postStatus, now time.Time) request {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	switch {
	case e.scored: // the job has left the queue, or its worker will find the result
		e.presence, e.asked = absent, time.Time{}
	case how == isQueued:
		e.presence, e.asked = queued, now
	case how == unknown:
		e.presence, e.asked = uncertain, time.Time{}
	default:
		e.asked = time.Time{}
	}
	e.request, e.scored = nothing, false
	return t.settle(key, e)
}

// canceled records that a cancellation ended. If an evaluation has joined meanwhile, the job is posted.
func (t *table) canceled(key string, now time.Time) request {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	e.request, e.scored, e.presence, e.asked = nothing, false, absent, now
	if e.demand != nil && !e.demand.ended {
		e.request = post
		return post
	}
	return t.settle(key, e)
}

// wants reports whether an evaluation waits for a job.
func (t *table) wants(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	return e != nil && e.demand != nil && !e.demand.ended
}

// arrived takes in a job's result. recalled means that the server had stored it, rather than that a worker sent it just
// now. A result that nobody waits for is another run's.
func (t *table) arrived(r record, recalled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[r.Key]
	if e == nil || e.demand == nil || e.demand.ended {
		return
	}
	t.stats.Done++
	if recalled && e.presence != queued {
		t.stats.Recalled++
	} else {
		t.stats.Redelivered += max(r.Tries, 1) - 1
	}
	e.demand.end(r, nil)
	t.drop(e)
	e.presence, e.scored = absent, e.request == post
	t.settle(r.Key, e)
}

// forged counts a result that does not fit its subject.
func (t *table) forged() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Refused++
}

// begun records that a worker evaluates a job.
func (t *table) begun(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[key]; e != nil && e.demand != nil {
		e.demand.begin()
	}
}

// failed records that a worker's evaluator failed with a job.
func (t *table) failed(key string, from sender, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[key]; e != nil && e.demand != nil {
		e.demand.failedOn(from, text, &t.service.workers)
	}
}

// snapshot returns the statistics.
func (t *table) snapshot() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	s.Workers, s.Waiting = t.service.workers.len(), t.wanted
	s.Slots, s.Busy = t.service.workers.slots()
	for _, e := range t.entries {
		if e.demand != nil && isClosed(e.demand.began) {
			s.Begun++
		}
	}
	return s
}

// idle reports whether no evaluation waits, and no request is under way.
func (t *table) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries) == 0
}

// reason returns why no evaluation can succeed any more, or nil.
func (t *table) reason() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// fail ends all evaluations with an error.
func (t *table) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if e.demand != nil {
			e.demand.end(record{}, err)
		}
	}
}

// close fails all evaluations, present and future.
func (t *table) close(err error) {
	t.mu.Lock()
	t.closed = err
	t.mu.Unlock()
	t.fail(err)
}
