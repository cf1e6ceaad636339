package nats

import "time"

// A sender is a worker that sent a run a notice: the public key that identifies it at the server, and the name that it
// gives itself.
type sender struct{ key, name string }

// A workerState is a worker's latest notice of presence.
type workerState struct {
	slots, busy int
	heard       time.Time
}

// workers are the workers that serve a run. A lying worker can give itself many names, but has one key.
type workers struct {
	states map[sender]workerState
	keys   map[string]int // workers of each key
}

// Bounds of a notice. Workers of one key beyond maxOfKey get jobs, but are not counted.
const (
	maxName  = 100     // bytes of a name
	maxSlots = 1 << 16 // of one worker
	maxOfKey = 10_000
)

// silence is how long a worker may be silent before it counts as gone.
const silence = 3 * answerInterval

func newWorkers() workers { return workers{map[sender]workerState{}, map[string]int{}} }

func (w *workers) len() int { return len(w.states) }

// slots returns how many slots all workers have, and how many of these are busy.
func (w *workers) slots() (slots, busy int) {
	for _, s := range w.states {
		slots, busy = slots+s.slots, busy+s.busy
	}
	return slots, busy
}

// add records a worker's state, and reports whether the worker is new.
func (w *workers) add(from sender, s workerState) (added bool) {
	if _, known := w.states[from]; !known {
		if w.keys[from.key] >= maxOfKey {
			return false
		}
		w.keys[from.key]++
		added = true
	}
	w.states[from] = s
	return added
}

// forget removes the workers that are gone.
func (w *workers) forget(now time.Time) {
	for from, s := range w.states {
		if now.Sub(s.heard) > silence {
			delete(w.states, from)
			if w.keys[from.key]--; w.keys[from.key] == 0 {
				delete(w.keys, from.key)
			}
		}
	}
}
