package nats

import (
	"context"
	"slices"
	"sync"
	"time"
)

// queues are those of runs that want a worker, which its slots serve in turn. A slot that has nothing to do waits at a
// queue where no other does.
type queues struct {
	mu      sync.Mutex
	names   []string
	heard   map[string]time.Time
	held    map[string]bool // at which a slot waits
	gave    string          // that gave a job last
	turn    int
	changed chan struct{} // closed when a queue comes or is let go
}

// queueSilence is after how long a queue that nobody names is forgotten.
const queueSilence = 10 * time.Second

func newQueues() *queues {
	return &queues{heard: map[string]time.Time{}, held: map[string]bool{}, changed: make(chan struct{})}
}

// name notes that a run names a queue.
func (q *queues) name(name string, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.heard[name]; !known {
		q.names = append(q.names, name)
		q.wake()
	}
	q.heard[name] = now
}

// drop forgets a queue until it is named again.
func (q *queues) drop(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(name)
}

// took notes that a queue gave a job.
func (q *queues) took(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gave = name
}

// free returns the queues where no slot waits, those first whose turn it is.
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

// hold returns a queue where no other slot waits, as soon as there is one: that which gave a job last if it can, as that
// one may go on. unseen is how many queues there are if some have no slot that waits there, and otherwise 0. letGo has
// to be called. name is "" if ctx ended.
func (q *queues) hold(ctx context.Context) (name string, unseen int) {
	for {
		names := q.free(time.Now())
		q.mu.Lock()
		names = slices.DeleteFunc(names, func(name string) bool { return q.held[name] }) // since then
		if len(names) > 0 {
			name = names[0]
			if slices.Contains(names, q.gave) {
				name = q.gave
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

// The callers of the following hold the lock.

func (q *queues) remove(name string) {
	if i := slices.Index(q.names, name); i >= 0 {
		q.names = slices.Delete(q.names, i, i+1)
		delete(q.heard, name)
	}
}

// wake has slots look for a queue again.
func (q *queues) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}
