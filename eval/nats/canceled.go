package nats

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// cancellations holds the cancellations of the last seconds. A cancellation may arrive before the slot begins the job,
// since each is received on its own goroutine.
type cancellations struct {
	latest  []cancellation // the oldest first
	arrived []time.Time
}

const (
	rememberFor = 10 * time.Second // long enough for a slot to begin the job
	rememberAll = 1000             // cancellations at most
)

// add remembers a cancellation.
func (c *cancellations) add(gone cancellation, now time.Time) {
	old := 0
	for old < len(c.arrived) && (now.Sub(c.arrived[old]) > rememberFor || len(c.arrived)-old >= rememberAll) {
		old++
	}
	c.latest, c.arrived = append(c.latest[old:], gone), append(c.arrived[old:], now)
}

// has reports whether the job with this sequence number in the stream was canceled lately.
func (c *cancellations) has(j job, sequence uint64, now time.Time) bool {
	for i, gone := range c.latest {
		if gone.of(j, sequence) && now.Sub(c.arrived[i]) <= rememberFor {
			return true
		}
	}
	return false
}

// of reports whether c cancels this job, and not the same program queued at another time.
func (c cancellation) of(j job, sequence uint64) bool {
	return c.Key == j.Key && c.Digest == j.Digest && c.Run == j.Run && c.Sequence == sequence
}

// hearCancellation stops a job that its run cancels, even if no slot has begun the job yet.
func (w *Worker) hearCancellation(m *nats.Msg) {
	var gone cancellation
	if reflected(m) || json.Unmarshal(m.Data, &gone) != nil ||
		gone.Digest != w.cfg.Task.Digest || !names.MatchString(gone.Key) || !names.MatchString(gone.Run) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for a := range w.active {
		if gone.of(a.job, a.sequence) {
			a.canceled = true
			a.stop()
		}
	}
	w.cancellations.add(gone, time.Now())
}
