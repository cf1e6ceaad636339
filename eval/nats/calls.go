package nats

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// An answer is a worker's latest notice to a run.
type answer struct {
	at          time.Time // of sending
	busy        int
	incarnation string // of the run
}

// rememberRuns is how long a worker remembers a run after its last call.
const rememberRuns = time.Hour

// hearCall answers a run's call, and serves the run's queue if the run has this worker's digest.
func (w *Worker) hearCall(m *nats.Msg) {
	var c call
	if reflected(m) || json.Unmarshal(m.Data, &c) != nil || c.Task != w.cfg.Task.Name || !names.MatchString(c.Run) {
		return
	}
	alike := c.Digest == w.cfg.Task.Digest
	if alike {
		w.queues.name(c.Run, time.Now())
	}
	busy, due, first := w.answerTo(c, time.Now())
	if first && !alike {
		w.count(func(s *WorkerStats) { s.Unlike++ })
		w.cfg.Logger.Warn("nats: a run is not served: its version of the task differs",
			"task", printable.Line(w.cfg.Task.Name), "its digest", printable.Line(c.Digest),
			"own digest", printable.Line(w.cfg.Task.Digest))
	}
	if due {
		w.tell(c.Run, notice{Kind: "here", Worker: w.cfg.Name, Digest: w.cfg.Task.Digest, Slots: w.cfg.Slots, Busy: busy})
	}
}

// answerTo reports whether a call must be answered: every few seconds, and at once if the run was restarted or the
// number of busy slots has changed. first reports whether this is the run's first call.
func (w *Worker) answerTo(c call, now time.Time) (busy int, due, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, known := w.answers[c.Run]
	busy = len(w.active)
	due = !w.stopping && (now.Sub(last.at) > answerInterval || last.busy != busy || last.incarnation != c.Incarnation)
	if due {
		for run, a := range w.answers {
			if now.Sub(a.at) > rememberRuns {
				delete(w.answers, run)
			}
		}
		w.answers[c.Run] = answer{now, busy, c.Incarnation}
	}
	return busy, due, !known
}

// tell sends a notice to a run. A run can do without a notice that is lost on the way.
func (w *Worker) tell(run string, n notice) {
	text, _ := json.Marshal(n)
	w.nc.Publish(w.cfg.Server.subject("told", run, w.key), text)
}
