package nats

import "time"

const (
	reviewAfter  = 10 * time.Second // since the server was last asked about a job
	reviewAtOnce = 100              // jobs per pass
)

// overdue returns jobs that the server was not asked about lately, for the caller to post.
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

// recheck marks all jobs as overdue: the server's messages of the last seconds may be lost.
func (t *table) recheck() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		e.asked = time.Time{}
	}
}

// refusedJob records that the server refused to queue a job.
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
