package nats

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// hearResult takes in a result that a worker has stored, for this run or another.
func (e *Evaluator) hearResult(m *nats.Msg) {
	if e.table.wants(lastToken(m.Subject)) {
		e.accept(m, false)
	}
}

// accept takes in a result, and reports whether it fits its subject.
func (e *Evaluator) accept(m *nats.Msg, recalled bool) bool {
	r, err := readRecord(e.cfg.Server, e.cfg.Task, m.Subject, m.Data)
	if err != nil {
		e.table.forged()
		e.cfg.Logger.Warn("nats: a result is refused",
			"subject", printable.Line(m.Subject), "why", printable.Line(err.Error()))
		return false
	}
	e.table.arrived(r, recalled)
	return true
}

// hearWorker takes in a worker's notice to this run.
func (e *Evaluator) hearWorker(m *nats.Msg) {
	var n notice
	if reflected(m) || json.Unmarshal(m.Data, &n) != nil || n.Worker == "" || len(n.Worker) > maxName {
		return
	}
	from := sender{lastToken(m.Subject), printable.Line(n.Worker)}
	switch n.Kind {
	case "here":
		e.hearPresence(from, n, time.Now())
	case "began":
		e.table.begun(n.Key)
	case "failed":
		e.table.failed(n.Key, from, printable.Line(cut(n.Error)))
	}
}

// hearPresence records that a worker is there.
func (e *Evaluator) hearPresence(from sender, n notice, now time.Time) {
	if n.Digest != e.cfg.Task.Digest {
		if digests.MatchString(n.Digest) {
			e.table.heardOther(n.Digest, now)
		}
		return
	}
	state := workerState{min(max(n.Slots, 0), maxSlots), min(max(n.Busy, 0), maxSlots), now}
	if e.table.heard(from, state) {
		e.cfg.Logger.Debug("nats: a worker serves the run", "worker", printable.Line(from.name), "slots", n.Slots)
	}
}

// lastToken returns the last part of a subject: the key of a result, or of the worker that sent a notice.
func lastToken(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }
