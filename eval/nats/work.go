package nats

import (
	"context"
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

// work brings a job to its end, as long as ctx lasts. It does not begin it once taking has ended. failed is whether the
// evaluator failed.
func (w *Worker) work(taking, ctx context.Context, m *nats.Msg) (failed bool) {
	j, err := readJob(w.cfg.Server, w.cfg.Task, m)
	if err != nil {
		w.count(func(s *WorkerStats) { s.Refused++ })
		w.cfg.Logger.Warn("nats: a job is refused", "why", printable.Line(err.Error()))
		if names.MatchString(j.Run) {
			w.tell(j.Run, notice{Kind: "failed", Worker: w.cfg.Name, Key: j.Key, Error: cut("refuses the job: " + err.Error())})
		}
		w.answer(m, terminate)
		return false
	}
	ours, r := w.begin(ctx, m, j)
	defer w.end(r)
	if taking.Err() != nil {
		w.giveBack(r, nak)
		return false
	}
	defer w.keepAlive(r)()
	known, err := w.last(ours, j.resultSubject(w.cfg.Server))
	var h history
	if err == nil && known == nil {
		h, err = w.history(ours, r)
	}
	switch {
	case known != nil:
		w.known(r)
	case w.isGivenUp(r):
		w.drop(r)
	case err != nil: // the worker is ending
		w.giveBack(r, nak)
	case h.deaths >= j.Deaths:
		w.count(func(s *WorkerStats) { s.Poisoned++ })
		w.finish(ctx, r, w.record(r, 0, eval.Invalid("its evaluation ended or hung %d workers in a row", h.deaths)))
	case h.suspect(r.tries):
		return w.alone(taking, ctx, ours, r)
	case !w.room.enter(): // taken while a suspect came
		w.giveBack(r, nak)
	default:
		defer w.room.leave()
		return w.evaluate(ctx, ours, r)
	}
	return false
}

// begin notes that the job is under way, and returns a context that ends with ctx or when its run gives it up.
func (w *Worker) begin(ctx context.Context, m *nats.Msg, j job) (context.Context, *running) {
	ours, cancel := context.WithCancel(ctx)
	r := &running{job: j, m: m, cancel: cancel}
	r.tries, r.sequence = delivery(m.Reply)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.givenUp.has(j, r.sequence, time.Now()) {
		r.givenUp = true
		cancel()
	}
	w.running[r] = true
	return ours, r
}

func (w *Worker) end(r *running) {
	r.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, r)
}

func (w *Worker) isGivenUp(r *running) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return r.givenUp
}

// known ends a job that has a result already.
func (w *Worker) known(r *running) {
	w.count(func(s *WorkerStats) { s.Known++ })
	w.answer(r.m, ack)
}

// drop ends a job that its run gave up.
func (w *Worker) drop(r *running) {
	w.count(func(s *WorkerStats) { s.GivenUp++ })
	w.answer(r.m, terminate)
}

// beat tells the server that the jobs under way are worked on, after it could not be told for a while.
func (w *Worker) beat() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.running {
		w.nc.Publish(r.m.Reply, []byte(inProgress))
	}
}

// keepAlive tells the server that the job is worked on, at most for as long as an evaluation may take. The function that
// it returns ends that.
func (w *Worker) keepAlive(r *running) (end func()) {
	every, most := r.Lost/5, r.Timeout+r.Lost
	begun, stop := time.Now(), make(chan struct{})
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		select {
		case <-stop:
			return
		default:
		}
		if time.Since(begun) < most {
			w.nc.Publish(r.m.Reply, []byte(inProgress))
			timer.Reset(every)
		}
	})
	timer.Reset(every)
	return func() { close(stop); timer.Stop() }
}

// evaluate scores the job, as long as ours lasts, which ends with ctx or before. failed is whether the evaluator did.
func (w *Worker) evaluate(ctx, ours context.Context, r *running) (failed bool) {
	limited, cancel := context.WithTimeout(ours, r.Timeout)
	defer cancel()
	w.tell(r.Run, notice{Kind: "began", Worker: w.cfg.Name, Key: r.Key})
	begun := time.Now()
	result, err := w.guarded(limited, r.job)
	took := time.Since(begun)
	if err == nil && !result.Valid && limited.Err() != nil {
		err = context.Cause(limited) // it may be invalid because it was ended
	}
	switch {
	case err == nil:
		w.count(func(*WorkerStats) { w.inARow = 0 })
		w.finish(ctx, r, w.record(r, took, result.Clean()))
	case w.isGivenUp(r):
		w.drop(r)
	case ctx.Err() != nil: // the worker is ending
		w.giveBack(r, nak)
	case limited.Err() != nil: // as if it had ended this worker
		w.cfg.Logger.Warn("nats: an evaluation did not end in time", "after", r.Timeout)
		w.answer(r.m, nakLater)
	default:
		w.evaluatorFailed(r, err)
		return true
	}
	return false
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
func (w *Worker) evaluatorFailed(r *running, err error) {
	w.mu.Lock()
	w.stats.Failed++
	w.inARow++
	row := w.inARow
	w.mu.Unlock()
	w.cfg.Logger.Error("nats: the evaluator failed", "error", printable.Line(err.Error()))
	w.tell(r.Run, notice{Kind: "failed", Worker: w.cfg.Name, Key: r.Key, Error: cut(err.Error())})
	w.giveBack(r, nakLater)
	if row >= errorsInARow {
		w.fatal(fmt.Errorf("nats: the evaluator failed %d times in a row: %w", row, err))
	}
}

// cut returns a line that is short enough to be told.
func cut(text string) string {
	line := printable.Line(text)
	return line[:min(len(line), eval.MaxReason)]
}

func (w *Worker) record(r *running, took time.Duration, result eval.Result) record {
	return record{
		Task: r.Name, Digest: r.Digest, Key: r.Key, Worker: w.cfg.Name, Tries: r.tries, Took: took.Seconds(), Result: result,
	}
}

// storingWithin is for how much longer than the worker's end a result is tried to be stored.
const storingWithin = 5 * time.Second

// finish stores a result and acknowledges the job then. Another worker's that is there already stays. Should the worker
// end meanwhile, and storing fail for some seconds more, the job is given back.
func (w *Worker) finish(ctx context.Context, r *running, result record) {
	invalid := !result.Result.Valid
	longer, cancel := lasting(ctx, storingWithin)
	defer cancel()
	for {
		err := w.store(longer, r.job, &result)
		if err == nil || present(err) {
			break
		}
		if longer.Err() != nil {
			w.giveBack(r, nak)
			return
		}
		w.storingFailed(err)
		sleep(longer, 200*time.Millisecond)
	}
	w.answer(r.m, ack)
	w.count(func(s *WorkerStats) {
		s.Done++
		if invalid {
			s.Invalid++
		}
	})
}

// lasting returns a context that ends some time after ctx does.
func lasting(ctx context.Context, more time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	off := context.AfterFunc(ctx, func() { time.AfterFunc(more, cancel) })
	return longer, func() {
		off()
		cancel()
	}
}

// storingFailed logs that a result is not stored yet. What the server itself says against it may stay so for long.
func (w *Worker) storingFailed(err error) {
	log := w.cfg.Logger.Debug
	var api *jetstream.APIError
	if errors.As(err, &api) && w.logged.due(api.Description) {
		log = w.cfg.Logger.Warn
	}
	log("nats: storing a result failed for now", "error", printable.Line(err.Error()))
}

// store stores a record.
func (w *Worker) store(ctx context.Context, j job, r *record) error {
	text, err := w.pack(ctx, j, r)
	if err != nil {
		return err
	}
	m := nats.NewMsg(j.resultSubject(w.cfg.Server))
	m.Data = text
	if err = storeNew(ctx, w.js, m); present(err) && r.Large != "" {
		w.dropLarge(ctx, m.Subject, r.Large)
	}
	return err
}

// count changes the statistics.
func (w *Worker) count(change func(*WorkerStats)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.stats)
}
