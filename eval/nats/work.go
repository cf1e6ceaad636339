package nats

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// work brings a delivered job to its end while ctx lasts, and begins none once taking has ended. failed reports whether
// the evaluator failed.
func (w *Worker) work(taking, ctx context.Context, m *nats.Msg) (failed bool) {
	j, err := readJob(w.cfg.Server, w.cfg.Task, m)
	if err != nil {
		w.refuse(m, j, err)
		return false
	}
	ours, a := w.begin(ctx, m, j)
	defer w.end(a)
	if taking.Err() != nil {
		w.giveBack(a, nak)
		return false
	}
	defer w.keepAlive(a)()
	known, err := w.last(ours, j.resultSubject(w.cfg.Server))
	var h history
	if err == nil && known == nil {
		h, err = w.history(ours, a)
	}
	switch {
	case known != nil:
		w.finishKnown(a)
	case w.isCanceled(a):
		w.drop(a)
	case err != nil: // the worker is ending
		w.giveBack(a, nak)
	case h.deaths >= j.Deaths:
		w.count(func(s *WorkerStats) { s.Poisoned++ })
		w.finish(ctx, a, w.record(a, 0, eval.Invalid("its evaluation killed or hung %d workers in a row", h.deaths)))
	case h.suspect(a.tries):
		return w.evaluateAlone(taking, ctx, ours, a)
	case !w.room.enter(): // a suspect has arrived since the job was taken
		w.giveBack(a, nak)
	default:
		defer w.room.leave()
		return w.evaluate(ctx, ours, a)
	}
	return false
}

// refuse ends a malformed or forged job.
func (w *Worker) refuse(m *nats.Msg, j job, err error) {
	w.count(func(s *WorkerStats) { s.Refused++ })
	w.cfg.Logger.Warn("nats: a job is refused", "why", printable.Line(err.Error()))
	if names.MatchString(j.Run) {
		w.tell(j.Run, notice{Kind: "failed", Worker: w.cfg.Name, Key: j.Key, Error: cut("refuses the job: " + err.Error())})
	}
	w.answer(m, terminate)
}

// finishKnown ends a job that already has a result.
func (w *Worker) finishKnown(a *activeJob) {
	w.count(func(s *WorkerStats) { s.Known++ })
	w.answer(a.delivery, ack)
}

// drop ends a canceled job.
func (w *Worker) drop(a *activeJob) {
	w.count(func(s *WorkerStats) { s.Canceled++ })
	w.answer(a.delivery, terminate)
}

// evaluate scores a job while ours lasts, which ends with ctx or before. failed reports whether the evaluator failed.
func (w *Worker) evaluate(ctx, ours context.Context, a *activeJob) (failed bool) {
	limited, cancel := context.WithTimeout(ours, a.Timeout)
	defer cancel()
	w.tell(a.Run, notice{Kind: "began", Worker: w.cfg.Name, Key: a.Key})
	begun := time.Now()
	result, err := w.evaluateGuarded(limited, a.job)
	took := time.Since(begun)
	if err == nil && !result.Valid && limited.Err() != nil {
		err = context.Cause(limited) // the result may be invalid because the evaluation was stopped
	}
	switch {
	case err == nil:
		w.count(func(*WorkerStats) { w.inARow = 0 })
		w.finish(ctx, a, w.record(a, took, result.Clean()))
	case w.isCanceled(a):
		w.drop(a)
	case ctx.Err() != nil: // the worker is ending
		w.giveBack(a, nak)
	case limited.Err() != nil: // as if the program had ended this worker
		w.cfg.Logger.Warn("nats: an evaluation did not end in time", "after", a.Timeout)
		w.answer(a.delivery, nakLater)
	default:
		w.evaluatorFailed(a, err)
		return true
	}
	return false
}

// evaluateGuarded evaluates, and returns a panic as an error.
func (w *Worker) evaluateGuarded(ctx context.Context, j job) (r eval.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("nats: the evaluator panicked: %v", v)
		}
	}()
	return eval.EvaluateSample(ctx, w.cfg.Evaluator, j.Program, j.Sample)
}

// evaluatorFailed gives a job to another worker. If evaluations keep failing here, the worker ends.
func (w *Worker) evaluatorFailed(a *activeJob, err error) {
	w.mu.Lock()
	w.stats.Failed++
	w.inARow++
	row := w.inARow
	w.mu.Unlock()
	w.cfg.Logger.Error("nats: the evaluator failed", "error", printable.Line(err.Error()))
	w.tell(a.Run, notice{Kind: "failed", Worker: w.cfg.Name, Key: a.Key, Error: cut(err.Error())})
	w.giveBack(a, nakLater)
	if row >= errorsInARow {
		w.fatal(fmt.Errorf("nats: the evaluator failed %d times in a row: %w", row, err))
	}
}

// cut returns text as one line that is short enough for a notice.
func cut(text string) string {
	line := printable.Line(text)
	return line[:min(len(line), eval.MaxReason)]
}
