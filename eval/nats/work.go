package nats

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// A delivery is a job that a worker holds. A job that is delivered again may have ended the worker of before, and so
// may a program beside it. So it is evaluated alone: only its own program can end this worker now.
type delivery struct {
	job
	refused error // why no run can have queued it, or nil
	message jetstream.Msg
	results jetstream.KeyValue
	release func()
}

// hold takes a job, and tells the server five times in lost that it is still held, until release is called or for as
// long as other evaluations and this one may take. The context that it returns ends with ctx, or if the run cancels the
// job.
func (w *Worker) hold(ctx context.Context, m jetstream.Msg, results jetstream.KeyValue, lost time.Duration) (
	context.Context, *delivery) {
	d := &delivery{message: m, results: results}
	d.job, d.refused = readJob(w.cfg.Task, m)
	ctx, stop := context.WithCancelCause(ctx)
	w.mu.Lock()
	w.active[d.key] = stop
	w.mu.Unlock()
	beating, quiet := context.WithTimeout(context.WithoutCancel(ctx), 2*w.cfg.Timeout)
	go func() {
		for sleep(beating, lost/5); beating.Err() == nil; sleep(beating, lost/5) {
			m.InProgress()
		}
	}()
	d.release = func() {
		quiet()
		stop(nil)
		w.mu.Lock()
		delete(w.active, d.key)
		w.mu.Unlock()
	}
	return ctx, d
}

// laterAgain is when a job is delivered again after its evaluator failed: long enough for a worker whose evaluator fails
// always to end before it gets the job again.
const laterAgain = 5 * time.Second

// failuresAllowed is the number of a job's deliveries after which a failure of the evaluator is the job's outcome, and of
// failures in a row that end a worker, which would otherwise waste the jobs of all others.
const failuresAllowed = 3

// work brings a job to its end. It begins no evaluation once taking has ended.
func (w *Worker) work(taking, ctx context.Context, d *delivery) {
	if d.refused != nil {
		w.cfg.Logger.Warn("nats: a job is refused", "why", printable.Line(d.refused.Error()))
		d.message.Term()
		return
	}
	var known *record
	var err error
	if d.tries > 1 { // of the first delivery the run has just looked
		known, err = lookup(ctx, d.results, d.job, false)
	}
	switch {
	case context.Cause(ctx) == errCanceled:
		w.drop(d)
	case err != nil || taking.Err() != nil:
		d.message.Nak()
	case known != nil:
		w.count(func(s *WorkerStats) { s.Known++ })
		d.message.Ack()
	case d.tries > d.maxDeliver:
		w.finish(ctx, d, 0, eval.Invalid("%d workers in a row ended, hung or were cut off while they evaluated it",
			d.maxDeliver))
	default:
		w.evaluate(ctx, d)
	}
}

// drop ends a canceled job.
func (w *Worker) drop(d *delivery) {
	w.count(func(s *WorkerStats) { s.Canceled++ })
	d.message.Term()
}

// evaluate scores a job.
func (w *Worker) evaluate(ctx context.Context, d *delivery) {
	limited, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	w.nc.Publish(w.cfg.Server.subject("began", d.resultKey()), nil)
	begun := time.Now()
	result, err := w.guarded(limited, d.job)
	if err == nil && !result.Valid {
		err = limited.Err() // the result may be invalid because the evaluation was stopped
	}
	switch {
	case err == nil:
		w.count(func(*WorkerStats) { w.inARow = 0 })
		w.finish(ctx, d, time.Since(begun), result.Clean())
	case context.Cause(ctx) == errCanceled:
		w.drop(d)
	case ctx.Err() != nil: // the worker is ending
		d.message.Nak()
	case limited.Err() != nil: // as if the program had ended this worker
		w.cfg.Logger.Warn("nats: an evaluation did not end in time", "after", w.cfg.Timeout)
		d.message.Nak()
	default:
		w.failed(ctx, d, err)
	}
}

// guarded evaluates, and returns a panic as an error.
func (w *Worker) guarded(ctx context.Context, j job) (r eval.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("nats: the evaluator panicked: %v", v)
		}
	}()
	return eval.EvaluateSample(ctx, w.cfg.Evaluator, j.program, j.sample)
}

// finish stores a result and acknowledges the job.
func (w *Worker) finish(ctx context.Context, d *delivery, took time.Duration, result eval.Result) {
	if w.store(ctx, d, record{Worker: w.cfg.Name, Tries: d.tries, Took: took.Seconds(), Result: result}) {
		w.count(func(s *WorkerStats) {
			s.Done++
			if !result.Valid {
				s.Invalid++
			}
		})
	}
}

// failed has another worker try a job whose evaluator failed, or ends the job with the error. If evaluations keep
// failing here, the worker ends.
func (w *Worker) failed(ctx context.Context, d *delivery, err error) {
	w.mu.Lock()
	w.stats.Failed++
	w.inARow++
	row := w.inARow
	w.mu.Unlock()
	w.cfg.Logger.Error("nats: the evaluator failed", "error", printable.Line(err.Error()))
	if d.tries < failuresAllowed {
		d.message.NakWithDelay(laterAgain)
	} else {
		text := err.Error()
		w.store(ctx, d, record{Worker: w.cfg.Name, Tries: d.tries, Error: text[:min(len(text), eval.MaxReason)]})
	}
	if row >= failuresAllowed {
		w.fatal(fmt.Errorf("nats: the evaluator failed %d times in a row: %w", row, err))
	}
}

// store stores the outcome of a job, and acknowledges the job. An outcome that another worker has stored stays. It tries
// until the worker ends, and then once more; the job is given back if that fails.
func (w *Worker) store(ctx context.Context, d *delivery, r record) (stored bool) {
	for {
		err := store(context.WithoutCancel(ctx), d.results, d.job, r)
		if err == nil {
			d.message.Ack()
			return true
		}
		if ctx.Err() != nil {
			d.message.Nak()
			return false
		}
		w.cfg.Logger.Debug("nats: storing a result failed, retrying", "error", printable.Line(err.Error()))
		sleep(ctx, time.Second)
	}
}
