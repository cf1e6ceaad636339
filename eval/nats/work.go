package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// What a worker answers to a delivery.
const (
	ack        = "+ACK"
	nak        = "-NAK"
	nakLater   = `-NAK {"delay": 1000000000}`
	inProgress = "+WPI"
	terminate  = "+TERM"
)

// answer answers a delivery and waits until the server has taken note, or for some seconds. Unanswered, the job is
// delivered again, and found done where it is.
func (w *Worker) answer(m *nats.Msg, what string) {
	for range 3 {
		if _, err := w.nc.Request(m.Reply, []byte(what), asking); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// work brings a job to its end, as long as ctx lasts. It does not begin it once taking has ended.
func (w *Worker) work(taking, ctx context.Context, m *nats.Msg) {
	j, err := readJob(w.cfg.Server, w.cfg.Task, m)
	if err != nil {
		w.count(func(s *WorkerStats) { s.Refused++ })
		w.cfg.Logger.Warn("nats: a job is refused", "why", printable.Line(err.Error()))
		w.answer(m, terminate)
		return
	}
	if taking.Err() != nil {
		w.giveBack(m, j, nak)
		return
	}
	beat := w.keepAlive(m, j.Lost/3, j.Timeout+j.Lost)
	defer beat()
	tries, _ := delivery(m.Reply)
	known, err := w.last(ctx, w.cfg.Server.subject("results", j.token(), j.Digest, j.Key))
	deaths := 0
	if err == nil && known == nil {
		deaths, err = w.deaths(ctx, m, j)
	}
	switch {
	case err != nil: // no server, so nobody to tell
		return
	case known != nil:
		w.count(func(s *WorkerStats) { s.Known++ })
		w.answer(m, ack)
	case deaths >= j.Deaths:
		w.count(func(s *WorkerStats) { s.Poisoned++ })
		w.finish(ctx, m, j, w.record(j, tries, 0, eval.Invalid("its evaluation ended or hung %d workers in a row", deaths)))
	default:
		w.evaluate(ctx, m, j, tries)
	}
}

// keepAlive tells the server that the job is worked on, at most for a time. The function that it returns ends that.
func (w *Worker) keepAlive(m *nats.Msg, every, most time.Duration) (end func()) {
	begun, stop := time.Now(), make(chan struct{})
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		select {
		case <-stop:
			return
		default:
		}
		if time.Since(begun) < most {
			w.nc.Publish(m.Reply, []byte(inProgress))
			timer.Reset(every)
		}
	})
	timer.Reset(every)
	return func() { close(stop); timer.Stop() }
}

// evaluate scores the job.
func (w *Worker) evaluate(ctx context.Context, m *nats.Msg, j job, tries int) {
	limited, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	r := &running{cancel: cancel}
	w.mu.Lock()
	w.running[j.Key] = r
	w.busy++
	w.mu.Unlock()
	w.tell(j.Run, notice{Kind: "began", Worker: w.cfg.Name, Key: j.Key})
	begun := time.Now()
	result, err := w.guarded(limited, j)
	took := time.Since(begun)
	w.mu.Lock()
	givenUp := r.givenUp
	delete(w.running, j.Key)
	w.busy--
	w.mu.Unlock()
	switch {
	case givenUp:
		w.count(func(s *WorkerStats) { s.GivenUp++ })
		w.answer(m, terminate)
	case ctx.Err() != nil && err != nil: // the worker is ending
		w.giveBack(m, j, nak)
	case limited.Err() != nil && err != nil: // as if it had ended this worker
		w.cfg.Logger.Warn("nats: an evaluation did not end in time", "after", j.Timeout)
		w.answer(m, nakLater)
	case err != nil:
		w.evaluatorFailed(ctx, m, j, err)
	default:
		w.count(func(*WorkerStats) { w.inARow = 0 })
		w.finish(ctx, m, j, w.record(j, tries, took, result.Clean()))
	}
}

// guarded evaluates, and returns a panic as an error.
func (w *Worker) guarded(ctx context.Context, j job) (r eval.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("nats: the evaluator panicked: %v", v)
		}
	}()
	return eval.EvaluateSample(ctx, w.cfg.Evaluator, j.Program, j.Sample)
}

// evaluatorFailed gives a job to another worker. If evaluations go on failing here, the worker ends.
func (w *Worker) evaluatorFailed(ctx context.Context, m *nats.Msg, j job, err error) {
	w.mu.Lock()
	w.stats.Failed++
	w.inARow++
	row := w.inARow
	w.mu.Unlock()
	says := printable.Line(err.Error())
	w.cfg.Logger.Error("nats: the evaluator failed", "error", printable.Line(says))
	w.tell(j.Run, notice{Kind: "failed", Worker: w.cfg.Name, Key: j.Key, Error: says[:min(len(says), eval.MaxReason)]})
	w.giveBack(m, j, nakLater)
	if row >= errorsInARow {
		w.fatal(fmt.Errorf("nats: the evaluator failed %d times in a row: %w", row, err))
		return
	}
	sleep(ctx, time.Second)
}

func (w *Worker) record(j job, tries int, took time.Duration, r eval.Result) record {
	return record{Task: j.Name, Digest: j.Digest, Key: j.Key, Worker: w.cfg.Name, Tries: tries, Took: took.Seconds(), Result: r}
}

// finish stores a result and acknowledges the job then. Another worker's that is there already stays.
func (w *Worker) finish(ctx context.Context, m *nats.Msg, j job, r record) {
	invalid := !r.Result.Valid
	for {
		err := w.store(ctx, j, r)
		if err == nil || present(err) {
			break
		}
		if ctx.Err() != nil {
			return
		}
		w.cfg.Logger.Debug("nats: storing a result failed for now", "error", printable.Line(err.Error()))
		sleep(ctx, 200*time.Millisecond)
	}
	w.answer(m, ack)
	w.count(func(s *WorkerStats) {
		s.Done++
		if invalid {
			s.Invalid++
		}
	})
}

// store stores a result, in the object store if it is beyond the message limit.
func (w *Worker) store(ctx context.Context, j job, r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(text) > largeRecord {
		if err := w.storeLarge(ctx, j, r.Result); err != nil {
			return err
		}
		r.Large, r.Result = true, eval.Result{}
		if text, err = json.Marshal(r); err != nil {
			return err
		}
	}
	m := nats.NewMsg(w.cfg.Server.subject("results", j.token(), j.Digest, j.Key))
	m.Data = text
	return storeNew(ctx, w.nc, m, "")
}

// largeRecord is how large a message is that holds a result.
const largeRecord = minPayload - 16<<10

func largeName(t Task, key string) string { return t.token() + "." + t.Digest + "." + key }

func (w *Worker) storeLarge(ctx context.Context, j job, r eval.Result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	js, err := api(w.nc)
	if err != nil {
		return err
	}
	store, err := js.ObjectStore(ctx, w.cfg.Server.large())
	if err != nil {
		return err
	}
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: largeName(j.Task, j.Key)}, bytes.NewReader(text))
	if err != nil {
		return errors.Join(errors.New("nats: storing a large result"), err)
	}
	return nil
}

// count changes the statistics.
func (w *Worker) count(change func(*WorkerStats)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.stats)
}
