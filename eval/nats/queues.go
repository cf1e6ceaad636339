package nats

import (
	"context"
	"slices"
	"sync"
	"time"
)

// queues are the queues of all runs that call. A worker's slots serve the queues in turn, and an idle slot waits at a
// queue where no other slot waits. queues are safe for concurrent use.
type queues struct {
	mu      sync.Mutex
	names   []string
	heard   map[string]time.Time
	held    map[string]bool // queues where a slot waits
	latest  string          // the queue of the latest job
	turn    int             // number of calls of free
	changed chan struct{}   // closed when a queue is added or released
}

// queueSilence is how long a queue is kept after its run's last call.
const queueSilence = 10 * time.Second

func newQueues() *queues {
	return &queues{heard: map[string]time.Time{}, held: map[string]bool{}, changed: make(chan struct{})}
}

// name records a call by the run of a queue.
func (q *queues) name(name string, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.heard[name]; !known {
		q.names = append(q.names, name)
		q.wake()
	}
	q.heard[name] = now
}

// drop forgets a queue until its run calls again.
func (q *queues) drop(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(name)
}

// took records that a job of a queue was taken.
func (q *queues) took(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.latest = name
}

// free returns the queues where no slot waits, beginning with another queue at each call.
func (q *queues) free(now time.Time) (names []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range slices.Clone(q.names) {
		if now.Sub(q.heard[name]) > queueSilence {
			q.remove(name)
		}
	}
	for i := range q.names {
		if name := q.names[(q.turn+i)%len(q.names)]; !q.held[name] {
			names = append(names, name)
		}
	}
	q.turn++
	return names
}

// hold waits for a queue where no other slot waits, and keeps it for the caller until release. It prefers the queue of
// the latest job, which may have more. unseen is the number of queues if some are left where no slot waits, and
// otherwise 0. name is "" if ctx ended.
func (q *queues) hold(ctx context.Context) (name string, unseen int) {
	for {
		names := q.free(time.Now())
		q.mu.Lock()
		names = slices.DeleteFunc(names, func(name string) bool { return q.held[name] }) // since free returned
		if len(names) > 0 {
			name = names[0]
			if slices.Contains(names, q.latest) {
				name = q.latest
			}
			q.held[name] = true
			if len(names) > 1 {
				unseen = len(q.names)
			}
			q.mu.Unlock()
			return name, unseen
		}
		changed := q.changed
		q.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return "", 0
		}
	}
}

// release ends a hold.
func (q *queues) release(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.held, name)
	q.wake()
}

// remove forgets a queue. The caller holds the lock.
func (q *queues) remove(name string) {
	if i := slices.Index(q.names, name); i >= 0 {
		q.names = slices.Delete(q.names, i, i+1)
		delete(q.heard, name)
	}
}

// wake has waiting slots look for a queue again. The caller holds the lock.
func (q *queues) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}
