package nats

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// A heartbeat is a worker's message to the runs of its task that it is there, every [beatInterval].
type heartbeat struct {
	Worker string `json:"worker"`
	Digest string `json:"digest"`
	Slots  int    `json:"slots"`
	Busy   int    `json:"busy"`
}

const (
	beatInterval = 2 * time.Second
	tickInterval = time.Second
	silentTicks  = 3 * int(beatInterval/tickInterval) // after which a worker counts as gone
)

// Bounds of heartbeats, as a worker may lie.
const (
	maxName    = 100     // bytes of a name
	maxSlots   = 1 << 16 // of one worker
	maxWorkers = 10_000  // that are counted
)

// workers are the workers of a task, of any digest, as their heartbeats tell. Time is counted in ticks of this process,
// so that none passes while the process or its machine is stopped. workers are safe for concurrent use.
type workers struct {
	digest string // the run's

	mu     sync.Mutex
	states map[string]state // by the worker's key and name
	ever   bool             // whether a worker of the run's digest was heard from
	alone  int              // ticks in a row in which evaluations waited and no such worker was there
}

type state struct {
	heartbeat
	silent int // ticks since the last heartbeat
}

func newWorkers(digest string) *workers { return &workers{digest: digest, states: map[string]state{}} }

// hear takes in a heartbeat.
func (w *workers) hear(m *nats.Msg) {
	var h heartbeat
	if reflected(m.Header) || json.Unmarshal(m.Data, &h) != nil || len(h.Worker) > maxName ||
		!digests.MatchString(h.Digest) {
		return
	}
	h.Slots, h.Busy = min(max(h.Slots, 0), maxSlots), min(max(h.Busy, 0), maxSlots)
	w.mu.Lock()
	defer w.mu.Unlock()
	id := lastToken(m.Subject) + " " + printable.Line(h.Worker)
	if _, known := w.states[id]; known || len(w.states) < maxWorkers {
		w.states[id] = state{heartbeat: h}
	}
	w.ever = w.ever || h.Digest == w.digest
}

// tick counts a tick, at which evaluations wait or not, and forgets workers that are gone. It returns for how long
// evaluations have waited without a worker of the run's digest, and whether there ever was one.
func (w *workers) tick(waiting bool) (alone time.Duration, ever bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alone++
	for id, s := range w.states {
		if s.silent++; s.silent > silentTicks {
			delete(w.states, id)
			continue
		}
		w.states[id] = s
		if s.Digest == w.digest {
			w.alone = 0
		}
	}
	if !waiting {
		w.alone = 0
	}
	return time.Duration(w.alone) * tickInterval, w.ever
}

// count returns the number of workers of the run's digest, of their slots, and of those that are busy.
func (w *workers) count() (n, slots, busy int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.states {
		if s.Digest == w.digest {
			n, slots, busy = n+1, slots+s.Slots, busy+s.Busy
		}
	}
	return n, slots, busy
}

// others returns the digests that workers of the task serve in place of the run's.
func (w *workers) others() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[string]bool{}
	for _, s := range w.states {
		if s.Digest != w.digest {
			found[s.Digest] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
