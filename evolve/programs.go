package evolve

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/memo"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// programs is a run's memory of what programs scored. It forgets artifacts alone, the oldest first, when the results
// that have them take more than 64 MiB. If the run has a journal, a result with its artifacts is read from there. So no
// program is evaluated again because the memory is full, and a run makes as many evaluations with a journal as without.
//
// It belongs to the run and not to a search, because the arms of a run work on one task and models repeat
// themselves: in some runs more than half of the programs are equal to an earlier one. With a memory for each
// arm such a program would be evaluated once an arm.
//
// It is safe for concurrent use.
type programs struct {
	table *memo.Table[verdict]

	mu    sync.Mutex
	names map[eval.Evaluator]string // how keys tell evaluators apart
	alike map[string]int            // how many print alike
	count int                       // of evaluations that cannot be remembered
	lost  int                       // evaluations in a row that a failed call cost
}

// programsBytes is the room for results with artifacts. Such a result can have 256 KiB, so the room is in bytes and not
// in programs. What stays of a result without its artifacts is as much as the Result of the run keeps of a child.
const programsBytes = 64 << 20

// A verdict is what an evaluation brought.
type verdict struct {
	eval.Result
	asked *asked        // nil if it asked no model
	took  time.Duration // as Budget.EvalTime counts it
	cut   bool          // its artifacts are forgotten
}

// withoutArtifacts returns what the memory keeps of a verdict for good.
func (v verdict) withoutArtifacts() verdict {
	v.cut, v.Artifacts = len(v.Artifacts) > 0, nil
	return v
}

// asked is what one evaluation asks of models, or the model of one call. All who share an evaluation's result share
// this. So its calls count once, for the first outcome that has the evaluation.
type asked struct {
	id    journal.ID // of the evaluation, or the call
	mu    sync.Mutex
	calls []Call
	told  []journal.Asked // the same for the journal, which has to give them back with the result
	lost  bool            // a call of an evaluation failed, by itself
}

// fail notes that a call of the evaluation failed.
func (a *asked) fail() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lost = true
}

// failed reports whether a call of the evaluation failed.
func (a *asked) failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost
}

// add takes in a call that has ended, and those that its model made.
func (a *asked) add(c *call, calls []Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, calls...)
	a.told = append(a.told, journal.Asked{Kind: c.kind, Key: c.id.String(), N: c.id.N, Prompt: promptBound(c.req)})
}

// made returns the calls.
func (a *asked) made() []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// list is how the journal names the calls.
func (a *asked) list() []journal.Asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.told)
}

// recallAsked takes in what the file has of calls that are not made now, because what came of them is recalled
// itself, and of those that their models made. The caller has read-locked owed.
func (s *step) recallAsked(a *asked, list []journal.Asked) error {
	for _, of := range list {
		c, err := s.journal.RecallAsked(of)
		switch {
		case err != nil:
			return err
		case c == nil:
			continue
		case c.Kind == journal.Refusal: // who asked may have made do without
			s.noteError(&refusedError{c.Limit})
			continue
		case len(c.Reply.Attempts) > 0:
			a.calls = append(a.calls, Call{of.Kind, c.Reply.Attempts})
		}
		if c.Kind != journal.Abandoned { // which is booked when the run begins
			s.bookRecalled(size{prompt: of.Prompt}, c.Reply.Attempts)
		}
		if err := s.recallAsked(a, c.Asked); err != nil {
			return err
		}
	}
	return nil
}

// any returns a, or nil if it has no call.
func (a *asked) any() *asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.calls) == 0 {
		return nil
	}
	return a
}

// A scoring is an evaluation that brought a result, made or remembered.
type scoring struct {
	key   journal.Key
	asked *asked        // nil if it asked no model
	took  time.Duration // as Budget.EvalTime counts it
	tuned bool          // it was made by Tune
}

func newPrograms() *programs {
	table := memo.New(programsBytes, func(v verdict) int { return v.Result.Size() })
	table.Keep = verdict.withoutArtifacts
	return &programs{table: table, names: make(map[eval.Evaluator]string), alike: make(map[string]int)}
}

// name returns a name that tells evaluators apart. In this process they are told apart by identity. In the
// journal they are told apart by how they print, and those that print alike by the order in which they were
// first asked. A part of a composite behind an [eval.Limit] is the part itself. It reports false for an evaluator that
// cannot be compared, such as a func: its results cannot be remembered.
func (p *programs) name(e eval.Evaluator) (name string, known bool) {
	for l, ok := e.(limited); ok; l, ok = e.(limited) {
		e = l.Unlimited()
	}
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

// A limited is an evaluator behind a limit, with the results that it has without.
type limited interface{ Unlimited() eval.Evaluator }

// printed returns the name of an evaluator in a journal: a task's name, or what the String method of another
// evaluator returns, or its type. It never prints a struct's fields. They may hold addresses, which differ from
// process to process, and a resumed run would find none of its evaluations.
func printed(e eval.Evaluator) string {
	switch e := e.(type) {
	case task.Task:
		return e.Name()
	case fmt.Stringer:
		return e.String()
	}
	return fmt.Sprintf("%T", e)
}

// unique returns a key for an evaluation that cannot be remembered, so that each counts.
func (p *programs) unique(key journal.Key) journal.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return journal.KeyOf(hexadecimal(key), fmt.Sprint(p.count))
}

// evaluate scores program, unless it is remembered.
func (p *programs) evaluate(ctx context.Context, t *Turn, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	name, known := p.name(e)
	key := journal.KeyOf(name, strings.TrimRight(program, space), fmt.Sprint(sample))
	if !known {
		v, err := t.evaluate(ctx, key, e, program, sample)
		if err == nil {
			t.noteScored(scoring{key: p.unique(key), asked: v.asked, took: v.took}) // one by itself each time
		}
		return v.Result, err
	}
	// If an equal program is being evaluated already, Do waits for its result instead of paying for another.
	v, err := p.table.Do(ctx, memo.Key(key), func() (verdict, error) { return t.evaluate(ctx, key, e, program, sample) })
	if err == nil && v.cut && t.journal != nil {
		v, err = t.evaluate(ctx, key, e, program, sample) // recalls it
	}
	if err == nil {
		t.noteScored(scoring{key: key, asked: v.asked, took: v.took})
	}
	return v.Clone(), err // a search may change the maps of its result, and the memory must not
}

// evaluate scores program. The result is recalled from the journal, or else made within the budget and recorded.
func (t *Turn) evaluate(ctx context.Context, key journal.Key, e eval.Evaluator, program string, sample int) (verdict, error) {
	a := &asked{}
	if t.journal != nil {
		if v, found, err := t.recallEvaluation(a, key); found || err != nil {
			return v, err
		}
		// What the file holds is in the accounts only when replay is over, and a run that is over gave this
		// evaluation up and has to give it up again to have the same result.
		if !t.past.Ended {
			if err := t.awaitLive(ctx); err != nil {
				return verdict{}, err
			}
		}
	}
	r, took, err := t.meter(ctx, e, program, sample, a)
	err = t.programs.bear(ctx, a, err)
	if err == nil {
		return verdict{Result: r, asked: a.any(), took: t.evalTime(took)}, t.record(a, program, r, took)
	}
	t.noteCalls(a.made()) // paid for, though they brought no result to share
	limit, _ := Refused(err)
	if limit == "" && !Lost(err) {
		return verdict{}, err
	}
	// Recorded, because the search goes on without the score. With room for it a resumed run would not.
	if t.journal != nil {
		if bad := t.recordUnscored(a, limit, err); bad != nil {
			return verdict{}, bad
		}
	}
	if limit == "" {
		return verdict{}, err
	}
	return verdict{}, &refusedError{limit} // without the evaluator's words, which a run made again does not have
}

// recallEvaluation returns what the evaluation brought in an earlier incarnation, if the journal has it, and the
// calls that it made. The evaluator is not asked again, so nobody but the journal knows them.
func (t *Turn) recallEvaluation(a *asked, key journal.Key) (v verdict, found bool, err error) {
	t.owed.RLock()
	defer t.owed.RUnlock()
	a.id = t.journal.Claim(key)
	r, err := t.journal.RecallEvaluation(a.id, t.past.Ended)
	switch {
	case err != nil || r == nil:
		return verdict{}, false, err
	case r.N != a.id.N && r.Kind == journal.Refusal && (t.past.Ended || t.journal.Finished()):
		return verdict{}, false, notScored(r)
	case r.N != a.id.N && r.Kind == journal.Refusal: // the budget may have room now, and the failed call may be answered
		return verdict{}, false, nil
	case r.N != a.id.N: // an earlier occurrence, booked then: the memory has only forgotten it
		return verdict{Result: *r.Result, took: t.evalTime(r.Took)}, true, nil
	}
	if err := t.recallAsked(a, r.Asked); err != nil {
		return verdict{}, false, err
	}
	if r.Kind == journal.Refusal {
		t.noteCalls(a.calls)
		return verdict{}, false, notScored(r)
	}
	if !t.owed.counted {
		t.bookScored(r)
	}
	return verdict{Result: *r.Result, asked: a.any(), took: t.evalTime(r.Took)}, true, nil
}

// record writes a result to the journal. It need not be on disk at once: to make it again costs no call, and a
// sync for each would take longer than many evaluations do.
func (t *Turn) record(a *asked, program string, r eval.Result, took time.Duration) error {
	if t.journal == nil {
		return nil
	}
	name, err := t.journal.WriteProgram(program)
	if err != nil {
		return err
	}
	rec := journal.Record{Kind: journal.Evaluation, Program: name, Result: &r, Took: took, Asked: a.list()}
	if t.claiming {
		rec.For = claimed
	}
	return t.journal.Write(a.id, rec)
}

// recordUnscored writes that an evaluation brought no result, and why, to the journal.
func (t *Turn) recordUnscored(a *asked, limit string, err error) error {
	return t.journal.Write(a.id, journal.Record{Kind: journal.Refusal, Limit: limit, Asked: a.list(), Error: lostRecord(err)})
}

// bookScored books an evaluation that comes from the journal.
func (s *shared) bookScored(r *journal.Record) {
	if r.Kind == journal.Tuning {
		s.ledger.settle(amounts{}, amounts{TuneEvaluations: 1}, nil)
		return
	}
	s.bookEvaluation(amounts{}, r.Took)
}

// bookEvaluation books an evaluation that took this long, for which set was set aside.
func (s *shared) bookEvaluation(set amounts, took time.Duration) {
	s.ledger.settle(set, amounts{Evaluations: 1, EvalTime: s.evalTime(took)}, nil)
}

// evalTime returns what an evaluation that took this long counts in the budget: no more than was set aside, though an
// evaluator may take its time to notice that it is cut off. With more the limit would be passed.
func (s *shared) evalTime(took time.Duration) time.Duration {
	if s.ledger.b.EvalTime > 0 {
		return min(took, s.ledger.b.EvalWorst)
	}
	return took
}

// meter scores program within the budget and returns how long that took. If the budget limits evaluators' time,
// the most that an evaluation may take is set aside, and an evaluation that takes longer is cut off.
func (t *Turn) meter(ctx context.Context, e eval.Evaluator, program string, sample int, a *asked) (r eval.Result, took time.Duration, err error) {
	worst := t.ledger.b.EvalWorst
	limits := t.ledger.b.EvalTime > 0
	set := amounts{Evaluations: 1}
	if limits {
		set.EvalTime = worst
	}
	// No drain is passed, so a reply that was paid for is scored even when nothing more is sent. Room is set aside
	// for evaluations that run and for those that wait in an evaluator's own queue, at most as many as there are
	// children. Waiting there takes none of the time (see stopwatch).
	if err := t.ledger.reserve(ctx, nil, set, false); err != nil {
		return eval.Result{}, 0, err
	}
	r, took, err = clocked(ctx, e, program, sample, worst, limits, t.asEvaluator(a))
	if err != nil {
		t.ledger.settle(set, amounts{}, nil)
		return eval.Result{}, took, err
	}
	t.bookEvaluation(set, took)
	return r.Clean(), took, nil
}

// asking is what llm.Ask calls in an evaluator.
type asking func(context.Context, llm.LLM, llm.Request) (llm.Reply, error)

// clocked scores program and returns how long that took. With limits, an evaluation that takes longer than worst is cut
// off, and its program is invalid.
func clocked(ctx context.Context, e eval.Evaluator, program string, sample int, worst time.Duration, limits bool, ask asking) (r eval.Result, took time.Duration, err error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	w := startWatch(cancel, worst, limits)
	inner := llm.WithTrace(limited, &llm.Trace{Queued: w.queued, Ask: ask})
	bad := guard("the evaluator's Evaluate", func() { r, err = eval.EvaluateSample(inner, e, program, sample) })
	took = w.stop()
	cutOff := limits && ctx.Err() == nil && limited.Err() != nil
	switch {
	case bad != nil:
		err = bad
	case err != nil && cutOff: // a slow program is a bad candidate, and not an error of the evaluator
		r, err = eval.Invalid("evaluation took more than the %v that the budget sets aside for one", worst), nil
	case err != nil && ctx.Err() == nil:
		if _, refused := Refused(err); !refused {
			err = &evaluationError{err}
		}
	}
	return r, took, err
}

// asEvaluator returns what llm.Ask calls in an evaluator. The calls use the budget of the run, and are noted with the
// evaluation, as all who share its result share them.
func (t *Turn) asEvaluator(a *asked) asking {
	return func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		reply, err := t.askOnce(ctx, purpose{kind: "evaluation", within: a}, l, req)
		if err != nil && lasting(ctx, err) == nil {
			a.fail()
		}
		return reply, err
	}
}

// both returns a function that calls a and b, and whose result calls theirs. The run's queue has to count a call
// that waits, and a Trace of the caller's has to hear of it too.
func both(a, b func() func()) func() func() {
	return func() func() {
		x, y := a(), b()
		return func() { x(); y() }
	}
}

// An evaluationError says that evaluation itself failed, which ends the run. Errors of the budget, the journal and
// the context, which come out of the same call, are not the evaluator's fault.
type evaluationError struct{ why error }

func (e *evaluationError) Error() string { return e.why.Error() }
func (e *evaluationError) Unwrap() error { return e.why }

// mostLost is how many evaluations in a row a failed call may cost before the run ends. Each costs a child that is paid for.
const mostLost = 32

// bear returns what err means for the run. An evaluator that fails after a call of it has failed costs one evaluation, as a
// failed call costs one child, unless too many in a row are lost.
func (p *programs) bear(ctx context.Context, a *asked, err error) error {
	var failed *evaluationError
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.lost = 0
	case errors.As(err, &failed) && a.failed() && ctx.Err() == nil:
		if p.lost++; p.lost < mostLost {
			return &lostError{failed.why}
		}
		return &evaluationError{fmt.Errorf("evolve: %d evaluations in a row were lost to failed calls, the last with: %w", p.lost, failed.why)}
	}
	return err
}

// A lostError says that an evaluation was lost because a call of its evaluator failed. It costs one child.
type lostError struct{ why error }

func (e *lostError) Error() string {
	return "its evaluation is lost, as a call of the evaluator failed: " + e.why.Error()
}
func (e *lostError) Unwrap() error { return e.why }

// Lost reports whether err says that an evaluation was lost because a call of its evaluator failed. It cost one program, and
// the search can go on.
func Lost(err error) bool {
	var l *lostError
	return errors.As(err, &l)
}

// lostRecord returns why an evaluation was lost for its record, nil if the budget refused it.
func lostRecord(err error) *llm.ErrorRecord {
	var l *lostError
	if !errors.As(err, &l) {
		return nil
	}
	return llm.NewErrorRecord(l.why)
}

// notScored returns the error of an evaluation that has no result in the journal.
func notScored(r *journal.Record) error {
	if r.Error != nil {
		return &lostError{r.Error.Err()}
	}
	return &refusedError{r.Limit}
}
