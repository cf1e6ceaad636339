package nats

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// cancellations are what runs gave up lately. A cancellation may come after the server delivered its job and before the
// slot begins it, since the two are received by different goroutines.
type cancellations struct {
	latest  []canceled // the oldest first
	arrived []time.Time
}

const (
	rememberFor = 10 * time.Second // by then a slot has begun the job
	rememberAll = 1000             // the latest of them
)

// add remembers a cancellation.
func (c *cancellations) add(gone canceled, now time.Time) {
	old := 0
	for old < len(c.arrived) && (now.Sub(c.arrived[old]) > rememberFor || len(c.arrived)-old >= rememberAll) {
		old++
	}
	c.latest, c.arrived = append(c.latest[old:], gone), append(c.arrived[old:], now)
}

// has reports whether the job with this sequence in the stream was given up lately.
func (c *cancellations) has(j job, sequence uint64, now time.Time) bool {
	for i, gone := range c.latest {
		if gone.of(j, sequence) && now.Sub(c.arrived[i]) <= rememberFor {
			return true
		}
	}
	return false
}

// of reports whether it is this job that was given up, and not the same program queued again.
func (c canceled) of(j job, sequence uint64) bool {
	return c.Key == j.Key && c.Digest == j.Digest && c.Run == j.Run && c.Sequence == sequence
}

// cancel ends a job that its run gave up. If no slot has begun it yet, none will.
func (w *Worker) cancel(m *nats.Msg) {
	var gone canceled
	if reflected(m) || json.Unmarshal(m.Data, &gone) != nil ||
		gone.Digest != w.cfg.Task.Digest || !names.MatchString(gone.Key) || !names.MatchString(gone.Run) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.running {
		if gone.of(r.job, r.sequence) {
			r.givenUp = true
			r.cancel()
		}
	}
	w.givenUp.add(gone, time.Now())
}
