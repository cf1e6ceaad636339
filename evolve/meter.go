package evolve

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// EvaluateChild scores program within the budget of the run whose Step ctx comes from. An error for
// which [Refused] is true says that the budget has no room for the evaluation.
func EvaluateChild(ctx context.Context, t task.Task, program string) (eval.Result, error) {
	var e eval.Evaluator = t
	if !metered(t) {
		e = meter{t}
	}
	r, err := e.Evaluate(ctx, program)
	return r.Clean(), noted(ctx, err)
}

// metered reports whether t, or what it wraps, keeps to the budget by itself. A memory and a journal do,
// which alone know whether a program is evaluated or was before.
func metered(t task.Task) bool {
	_, remembers := task.As[memo](t)
	_, journals := task.As[*journaledTask](t)
	return remembers || journals
}

// meter is an Evaluator that keeps to the budget of the run that ctx comes from.
type meter struct{ e eval.Evaluator }

func (m meter) String() string { return fmt.Sprint(m.e) }

func (m meter) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	r, _, err := evaluate(ctx, m.e, program)
	return r, err
}

// evaluate scores program and says how long it took. Where the budget limits that, it sets aside the most
// that an evaluation may take, cuts it off then, and books what it took.
func evaluate(ctx context.Context, e eval.Evaluator, program string) (r eval.Result, took time.Duration, err error) {
	l, _ := ctx.Value(ledgerKey{}).(*ledger)
	if l == nil || l.b.EvalTime == 0 {
		begin := time.Now()
		r, err = e.Evaluate(llm.WithTrace(ctx, &llm.Trace{Queued: unwatched}), program)
		return r.Clean(), time.Since(begin), err
	}
	worst := l.b.EvalWorst
	set := amounts{eval: worst}
	if err := l.reserve(ctx, set, true); err != nil {
		return eval.Result{}, 0, err
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	w := startWatch(worst, cancel)
	r, err = e.Evaluate(llm.WithTrace(limited, &llm.Trace{Queued: w.queued}), program)
	took = min(w.stop(), worst)
	l.settle(set, amounts{eval: took}, 0)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return eval.Invalid("evaluation took more than the %v that the budget sets aside for one", worst), took, nil
	}
	return r.Clean(), took, err
}

// unwatched is the Queued of evaluations that nobody takes the time of: those that wait are no calls.
func unwatched() (served func()) { return func() {} }

// recallEvaluation books what an evaluation took that is in a journal.
func recallEvaluation(ctx context.Context, took time.Duration) {
	if l, _ := ctx.Value(ledgerKey{}).(*ledger); l != nil && l.b.EvalTime > 0 {
		l.settle(amounts{}, amounts{eval: min(took, l.b.EvalWorst)}, 0)
	}
}

// A stopwatch measures an evaluation, but for the time in which it waits in a queue, and ends it when it
// has taken the most that it may. It is safe for concurrent use.
type stopwatch struct {
	most  time.Duration
	timer *time.Timer

	mu      sync.Mutex
	waiting int           // in queues
	since   time.Time     // when it ran last, if waiting is 0
	ran     time.Duration // before
}

func startWatch(most time.Duration, end func()) *stopwatch {
	return &stopwatch{most: most, since: time.Now(), timer: time.AfterFunc(most, end)}
}

// queued stops the time until served is called.
func (w *stopwatch) queued() (served func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting++; w.waiting == 1 {
		w.ran += time.Since(w.since)
		w.timer.Stop()
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting--; w.waiting == 0 {
			w.since = time.Now()
			w.timer.Reset(w.most - w.ran)
		}
	}
}

// stop returns how long it ran.
func (w *stopwatch) stop() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	return w.ran + time.Since(w.since)
}
