package nats

import (
	"context"
	"slices"
	"sync"
	"time"
)

// queues are those of the runs that call. A worker's slots serve them in turn, and a slot without work waits at a queue
// where no other slot does. queues are safe for concurrent use.
type queues struct {
	mu      sync.Mutex
	names   []string
	heard   map[string]time.Time
	held    map[string]bool // where a slot waits
	latest  string          // the queue of the latest job
	turn    int             // counts the calls of free
	changed chan struct{}   // closed when a queue is added or let go
}

// queueSilence is how long a queue stays whose run does not call.
const queueSilence = 10 * time.Second

func newQueues() *queues {
	return &queues{heard: map[string]time.Time{}, held: map[string]bool{}, changed: make(chan struct{})}
}

// name notes that the run of a queue calls.
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

// took notes that a job of a queue was taken.
func (q *queues) took(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.latest = name
}

// free returns the queues where no slot waits. Each call begins with another one.
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

// hold waits for a queue where no other slot waits, and keeps it for the caller until letGo is called. It prefers the
// queue of the latest job, which may have more. unseen is the number of queues if there are some where no slot waits,
// and otherwise 0. name is "" if ctx ended.
func (q *queues) hold(ctx context.Context) (name string, unseen int) {
	for {
		names := q.free(time.Now())
		q.mu.Lock()
		names = slices.DeleteFunc(names, func(name string) bool { return q.held[name] }) // by another slot meanwhile
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

// letGo ends a hold.
func (q *queues) letGo(name string) {
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

// wake has slots look for a queue again. The caller holds the lock.
func (q *queues) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}
