package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// A record is an evaluation as the server stores it.
type record struct {
	Task   string      `json:"task"`
	Digest string      `json:"digest"`
	Key    string      `json:"key"`
	Worker string      `json:"worker"`
	Tries  int         `json:"tries"`
	Took   float64     `json:"took_s"`
	Result eval.Result `json:"result"`
	// Large is the name of the object that has the result, or "" if it is in Result.
	Large string `json:"large,omitempty"`
}

// readRecord returns the record in a message, or an error if it does not fit the task or the message's subject.
func readRecord(s Server, t Task, subject string, data []byte) (r record, err error) {
	key, ok := strings.CutPrefix(subject, s.subject("results", t.token(), t.Digest)+".")
	if !ok {
		return r, fmt.Errorf("its subject %q is not one of the task %v", subject, t)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, err
	}
	if r.Key != key || r.Digest != t.Digest || r.Task != t.Name {
		return r, fmt.Errorf("it came as %s and says that it is %s of the task %q, digest %s", key, r.Key, r.Task, r.Digest)
	}
	if r.Large != "" && !strings.HasPrefix(r.Large, largePrefix(t, key)) {
		return r, fmt.Errorf("its object %q belongs to another result", r.Large)
	}
	return r, nil
}

// record returns the record of a job.
func (w *Worker) record(a *activeJob, took time.Duration, result eval.Result) record {
	return record{
		Task: a.Name, Digest: a.Digest, Key: a.Key, Worker: w.cfg.Name, Tries: a.tries, Took: took.Seconds(), Result: result,
	}
}

// storingWithin is how long a worker that is ending keeps trying to store a result.
const storingWithin = 5 * time.Second

// finish stores a result and then acknowledges the job. A result that another worker has stored stays. If the worker is
// ending and the result cannot be stored, the job is given back.
func (w *Worker) finish(ctx context.Context, a *activeJob, r record) {
	invalid := !r.Result.Valid
	longer, cancel := extend(ctx, storingWithin)
	defer cancel()
	for {
		err := w.store(longer, a.job, &r)
		if err == nil || isPresent(err) {
			break
		}
		if longer.Err() != nil {
			w.giveBack(a, nak)
			return
		}
		w.storingFailed(err)
		sleep(longer, askAgain)
	}
	w.answer(a.delivery, ack)
	w.count(func(s *WorkerStats) {
		s.Done++
		if invalid {
			s.Invalid++
		}
	})
}

// extend returns a context that ends the time more after ctx does.
func extend(ctx context.Context, more time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	off := context.AfterFunc(ctx, func() { time.AfterFunc(more, cancel) })
	return longer, func() {
		off()
		cancel()
	}
}

// storingFailed logs that a result could not be stored. A refusal by the server is a warning, since it may last.
func (w *Worker) storingFailed(err error) {
	log := w.cfg.Logger.Debug
	var api *jetstream.APIError
	if errors.As(err, &api) && w.logged.due(api.Description) {
		log = w.cfg.Logger.Warn
	}
	log("nats: storing a result failed, retrying", "error", printable.Line(err.Error()))
}

// store stores a record. If the job has one already, isPresent(err).
func (w *Worker) store(ctx context.Context, j job, r *record) error {
	text, err := w.pack(ctx, j, r)
	if err != nil {
		return err
	}
	m := nats.NewMsg(j.resultSubject(w.cfg.Server))
	m.Data = text
	if err = storeNew(ctx, w.js, m); isPresent(err) && r.Large != "" {
		w.dropLarge(ctx, m.Subject, r.Large)
	}
	return err
}
