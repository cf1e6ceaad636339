package nats

import "time"

const (
	reviewAfter  = 10 * time.Second // after which the server is asked about a job again
	reviewAtOnce = 100              // jobs that it is asked about in one pass
)

// overdue returns jobs that the server was not asked about for a while, for the caller to post.
func (t *table) overdue(now time.Time) (due []job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if len(due) == reviewAtOnce {
			break
		}
		if e.demand != nil && e.request == nothing && !e.demand.ended && now.Sub(e.asked) > reviewAfter {
			e.request = post
			due = append(due, e.demand.job)
		}
	}
	return due
}

// recheck has the server asked about all jobs soon: its messages of the last seconds may be lost.
func (t *table) recheck() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		e.asked = time.Time{}
	}
}

// refusedJob takes in that the server refused to queue a job.
func (t *table) refusedJob() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = true
}

// takeRefused reports whether the server refused to queue a job since the last call.
func (t *table) takeRefused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := t.refused
	t.refused = false
	return refused
}
