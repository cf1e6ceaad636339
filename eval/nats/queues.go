package nats

import (
	"context"
	"slices"
	"sync"
	"time"
)

// queues are those of runs that want a worker, which are served in turn.
type queues struct {
	mu    sync.Mutex
	names []string
	last  map[string]time.Time
	turn  int
	came  chan struct{} // closed when there is one after there was none
}

// queueSilence is after how long a queue that nobody names is forgotten.
const queueSilence = 10 * time.Second

func newQueues() *queues {
	return &queues{last: map[string]time.Time{}, came: make(chan struct{})}
}

// heard notes that a run names a queue.
func (q *queues) heard(name string, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.last[name]; !known {
		q.names = append(q.names, name)
		if len(q.names) == 1 {
			close(q.came)
		}
	}
	q.last[name] = now
	for _, old := range slices.Clone(q.names) {
		if now.Sub(q.last[old]) > queueSilence {
			q.remove(old)
		}
	}
}

// drop forgets a queue until it is named again.
func (q *queues) drop(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(name)
}

func (q *queues) remove(name string) {
	i := slices.Index(q.names, name)
	if i < 0 {
		return
	}
	q.names = slices.Delete(q.names, i, i+1)
	delete(q.last, name)
	if len(q.names) == 0 {
		q.came = make(chan struct{})
	}
}

// next returns the queue whose turn it is, or false if there is none.
func (q *queues) next() (string, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.names) == 0 {
		return "", false
	}
	q.turn++
	return q.names[q.turn%len(q.names)], true
}

// wait returns how many queues there are, as soon as there is one, or 0 if ctx ends.
func (q *queues) wait(ctx context.Context) int {
	q.mu.Lock()
	n, came := len(q.names), q.came
	q.mu.Unlock()
	if n > 0 {
		return n
	}
	select {
	case <-came:
		return 1
	case <-ctx.Done():
		return 0
	}
}
