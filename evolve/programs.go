package evolve

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/memo"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// programs is a run's memory of what programs scored, up to 64 MiB of it. With a journal what is forgotten is
// read again.
//
// It belongs to the run and not to a search, because the arms of a run work on one task and models repeat
// themselves: more than half of the programs of some runs are equal to one that stood before. A memory of each
// arm's own would evaluate them once an arm.
//
// It is safe for concurrent use.
type programs struct {
	table *memo.Table[eval.Result]

	mu    sync.Mutex
	names map[eval.Evaluator]string // how keys tell evaluators apart
	alike map[string]int            // how many print alike
	count int                       // of evaluations that cannot be remembered
}

const programsBytes = 64 << 20

func newPrograms() *programs {
	return &programs{
		table: memo.New(programsBytes, eval.Result.Size),
		names: make(map[eval.Evaluator]string), alike: make(map[string]int),
	}
}

// name tells evaluators apart: by identity in this process, and in the journal by how they print and, of those
// that print alike, in which order they were first asked. It reports false for one that cannot be compared,
// such as a func, of which nothing can be remembered.
func (p *programs) name(e eval.Evaluator) (name string, known bool) {
	name = printed(e)
	if !reflect.ValueOf(e).Comparable() {
		return name, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, ok := p.names[e]; ok {
		return n, true
	}
	n := p.alike[name]
	p.alike[name]++
	if n > 0 {
		name = fmt.Sprintf("%s#%d", name, n)
	}
	p.names[e] = name
	return name, true
}

// printed is what an evaluator is known by in a journal: a task by its name, another as it prints itself, and
// what does not by its type. The fields of a struct may print otherwise in every process, as addresses do.
func printed(e eval.Evaluator) string {
	switch e := e.(type) {
	case task.Task:
		return e.Name()
	case fmt.Stringer:
		return e.String()
	}
	return fmt.Sprintf("%T", e)
}

// next numbers an evaluation that cannot be remembered.
func (p *programs) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return p.count
}

// evaluate scores program, unless it is remembered.
func (p *programs) evaluate(ctx context.Context, t *Turn, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	name, known := p.name(e)
	key := journal.KeyOf(name, strings.TrimRight(program, space), fmt.Sprint(sample))
	if !known {
		r, err := t.evaluate(ctx, key, e, program)
		if err == nil {
			t.noteScored(journal.KeyOf(key.String(), fmt.Sprint(p.next()))) // one by itself each time
		}
		return r, err
	}
	r, err := p.table.Do(ctx, memo.Key(key), func() (eval.Result, error) { return t.evaluate(ctx, key, e, program) })
	if err == nil {
		t.noteScored(key)
	}
	return r.Clone(), err
}

// evaluate scores program: recalled from the journal, or else within the budget, and recorded.
func (t *Turn) evaluate(ctx context.Context, key journal.Key, e eval.Evaluator, program string) (eval.Result, error) {
	var id journal.ID
	if t.journal != nil {
		id = t.journal.Claim(key)
		r, err := t.journal.RecallEvaluation(id)
		switch {
		case err != nil:
			return eval.Result{}, err
		case r != nil && r.Kind == journal.Refusal:
			return eval.Result{}, &refusedError{r.Limit}
		case r != nil:
			if r.N == id.N { // else the memory forgot it, and it is booked already
				t.bookEvaluation(amounts{}, r.Took)
			}
			return *r.Result, nil
		}
		if t.journal.Finished() && !t.past.Ended { // it was cut short then, and is again
			if err := t.awaitLive(ctx); err != nil {
				return eval.Result{}, err
			}
		}
	}
	r, took, err := t.meter(ctx, e, program)
	if err == nil {
		return r, t.record(id, program, r, took)
	}
	if limit, _ := Refused(err); limit != "" && t.journal != nil {
		if bad := t.journal.Write(id, journal.Record{Kind: journal.Refusal, Limit: limit}); bad != nil {
			return r, bad
		}
	}
	return r, err
}

// record writes a result down. It need not be on disk at once: it costs no call to make it again, and a sync for
// each would cost more than many evaluations do.
func (t *Turn) record(id journal.ID, program string, r eval.Result, took time.Duration) error {
	if t.journal == nil {
		return nil
	}
	name, err := t.journal.WriteProgram(program)
	if err != nil {
		return err
	}
	return t.journal.Write(id, journal.Record{Kind: journal.Evaluation, Program: name, Result: &r, Took: took})
}

// bookEvaluation books an evaluation that took so long, for which set was set aside.
func (s *step) bookEvaluation(set amounts, took time.Duration) {
	used := amounts{evaluations: 1}
	if s.ledger.b.EvalTime > 0 {
		used.eval = min(took, s.ledger.b.EvalWorst)
	}
	s.ledger.settle(set, used, 0)
}

// meter scores program within the budget and says how long it took. Where the budget limits evaluators' time,
// the most that an evaluation may take is set aside, and it is cut off then.
func (t *Turn) meter(ctx context.Context, e eval.Evaluator, program string) (r eval.Result, took time.Duration, err error) {
	worst := t.ledger.b.EvalWorst
	limits := t.ledger.b.EvalTime > 0
	set := amounts{evaluations: 1}
	if limits {
		set.eval = worst
	}
	// Waiting in an evaluator's own queue takes none of the time (see stopwatch), so what is set aside here is
	// for evaluations that run and for those that wait, of which there are at most as many as children. It does
	// not heed the trace's Drain: what was paid for is scored, also when nothing more is sent.
	if err := t.ledger.reserve(ctx, nil, set, false); err != nil {
		return eval.Result{}, 0, err
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	w := startWatch(cancel, worst, limits)
	inner := llm.WithTrace(limited, &llm.Trace{Queued: w.queued, Ask: t.asEvaluator})
	bad := guard("the evaluator's Evaluate", func() { r, err = e.Evaluate(inner, program) })
	took = w.stop()
	cutOff := limits && ctx.Err() == nil && limited.Err() != nil
	switch {
	case bad != nil:
		err = bad
	case err != nil && cutOff:
		r, err = eval.Invalid("evaluation took more than the %v that the budget sets aside for one", worst), nil
	case err != nil && ctx.Err() == nil:
		if _, refused := Refused(err); !refused {
			err = &evaluationError{err}
		}
	}
	if err != nil {
		t.ledger.settle(set, amounts{}, 0)
		return eval.Result{}, took, err
	}
	t.bookEvaluation(set, took)
	return r.Clean(), took, nil
}

// asEvaluator is what an evaluator's llm.Ask calls.
func (t *Turn) asEvaluator(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
	return t.Ask(ctx, "evaluation", l, req)
}

// both returns what calls a and b, and what they return.
func both(a, b func() func()) func() func() {
	return func() func() {
		x, y := a(), b()
		return func() { x(); y() }
	}
}

// An evaluationError says that evaluation itself failed. It tells an error of the evaluator from those of the
// budget, the journal and the context, of which only the first is the evaluator's fault.
type evaluationError struct{ why error }

func (e *evaluationError) Error() string { return e.why.Error() }
func (e *evaluationError) Unwrap() error { return e.why }
