package nats

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// cancellations are what runs gave up lately. One may come after the server delivered its job and before the slot begins
// it, since the two are received by different goroutines.
type cancellations struct {
	latest  []canceled // the oldest first
	arrived []time.Time
}

const (
	rememberFor = 10 * time.Second // by then the slot has begun the job
	rememberAll = 1000             // at most
)

// add remembers one whose sequence is known, and forgets those that are old. Without it, one would be taken for the same
// job queued again.
func (c *cancellations) add(gone canceled, now time.Time) {
	if gone.Sequence == 0 {
		return
	}
	old := 0
	for old < len(c.arrived) && (now.Sub(c.arrived[old]) > rememberFor || len(c.arrived)-old >= rememberAll) {
		old++
	}
	c.latest, c.arrived = append(c.latest[old:], gone), append(c.arrived[old:], now)
}

// has reports whether a job with this sequence in the stream was given up.
func (c *cancellations) has(j job, sequence uint64) bool {
	for _, gone := range c.latest {
		if gone.of(j, sequence) {
			return true
		}
	}
	return false
}

// of reports whether it is a job with this sequence in the stream that was given up.
func (c canceled) of(j job, sequence uint64) bool {
	return c.Key == j.Key && c.Digest == j.Digest && c.Run == j.Run && (c.Sequence == 0 || sequence <= c.Sequence)
}

// cancel ends a job that its run gave up, or has it not begun.
func (w *Worker) cancel(m *nats.Msg) {
	var gone canceled
	if json.Unmarshal(m.Data, &gone) != nil || gone.Digest != w.cfg.Task.Digest {
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
