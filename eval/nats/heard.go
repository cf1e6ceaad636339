package nats

import "time"

// A sender is who told a run something: a worker, by the public key that the server knows it by and by the name that it
// gives itself.
type sender struct{ key, name string }

// here is a worker that serves a run.
type here struct {
	slots, busy int
	heard       time.Time
}

// workers are those that a run hears of. A worker that lies can give itself many names, but one key.
type workers struct {
	here map[sender]here
	keys map[string]int // how many of here have a key
}

// What a worker may say, and how many workers of one key are noted. Further ones have jobs, but are not counted.
const (
	maxName  = 100     // bytes of a name
	maxSlots = 1 << 16 // of one worker
	maxOfKey = 10_000
)

func newWorkers() workers { return workers{map[sender]here{}, map[string]int{}} }

func (w *workers) len() int { return len(w.here) }

// heard notes what a worker says, and reports whether it is a new one.
func (w *workers) heard(from sender, h here) (added bool) {
	if _, known := w.here[from]; !known {
		if w.keys[from.key] >= maxOfKey {
			return false
		}
		w.keys[from.key]++
		added = true
	}
	w.here[from] = h
	return added
}

// forget drops the workers that were silent for longer than silence.
func (w *workers) forget(now time.Time) {
	for from, h := range w.here {
		if now.Sub(h.heard) > silence {
			delete(w.here, from)
			if w.keys[from.key]--; w.keys[from.key] == 0 {
				delete(w.keys, from.key)
			}
		}
	}
}
