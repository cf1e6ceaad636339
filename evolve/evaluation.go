package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/fault"
	"github.com/evoalloc/evoalloc/evolve/internal/ledger"
	"github.com/evoalloc/evoalloc/evolve/internal/memory"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/waits"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Evaluate scores program with e. Sample numbers independent evaluations of one program. The same program and
// sample are evaluated once in a run, so ask a deterministic evaluator always for sample 0, and a noisy one
// for 0, 1, 2, ... Programs are the same if their texts are, up to white space at the end.
//
// A bad program is a result that is not valid. An error for which [Refused] is true means that the budget has no
// room, or that the step drains (see [Turn.Ask]). Where e fails because a call that it makes through [llm.Ask]
// failed, the error costs this evaluation alone, and [Lost] is true for it; after 32 in a row the run ends. Any
// other error means that the evaluation was given up, or that evaluation itself failed, which ends the run after
// the step.
//
// Evaluators are told apart by their values, and across processes by how they print. One whose value cannot be
// compared, such as a func or a struct that holds a slice, is asked again each time.
//
// The parts of an [eval.Composite] are evaluated instead of the whole, each as an evaluation of its own.
//
// An [eval.Sampler] is told the sample.
//
// What e asks of a model through [llm.Ask] is an aside of the kind "evaluation".
func (t *Turn) Evaluate(ctx context.Context, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	if t.recording() {
		if err := t.doomed(); err != nil {
			t.noteError(err)
			return eval.Result{}, err
		}
	}
	return t.score(ctx, e, program, sample)
}

// score is Evaluate, also for a reply that was on its way when a fault of a model or of the search ended the run: a
// Breeder scores it, because it is paid for and may be the best.
func (t *Turn) score(ctx context.Context, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	if c, ok := e.(eval.Composite); ok {
		return t.evaluateParts(ctx, c, program, sample)
	}
	if !t.recording() {
		r, err := eval.EvaluateSample(ctx, e, program, sample)
		return r.Clean(), err
	}
	var r eval.Result
	err := t.doomed()
	// After some faults no program can be scored any more, or no score kept.
	if err == nil || !fault.OfJournal(err) && !fault.OfEvaluation(err) {
		r, err = t.remembered(ctx, e, program, sample)
	}
	t.noteError(err)
	return r, err
}

// evaluateParts scores program with the parts of c.
//
// Where the budget refuses one part, the others are begun all the same. The journal holds each part's result or
// refusal, and a run that is made again must not ask for a part that was not begun then. After any other error the run
// ends, and what was not begun is made when it goes on.
func (t *Turn) evaluateParts(ctx context.Context, c eval.Composite, program string, sample int) (
	r eval.Result, err error) {

	part := func(e eval.Evaluator) (eval.Result, error) { return t.score(ctx, e, program, 0) }
	refused := func(err error) bool {
		limit, refused := Refused(err)
		return refused && limit != ""
	}
	bad := guard("the evaluator's Parts or Join", func() { r, err = eval.ComposeBy(c, program, sample, part, refused) })
	err = cmp.Or(bad, err)
	if err != nil && ctx.Err() == nil && !fatal(err) && !Lost(err) {
		if _, refused := Refused(err); !refused {
			err = &fault.Evaluation{Why: err} // of Parts or Join
		}
	}
	if t.recording() {
		t.noteError(err)
	}
	return r, err
}

// Evaluate scores t's initial program. It is for searches stepped by hand: in a run it is a Turn that
// evaluates, so that the journal has the score.
func Evaluate(ctx context.Context, t task.Task) (eval.Candidate, error) {
	return start(ctx, nil, t)
}

// start evaluates the initial program of t within turn.
func start(ctx context.Context, turn *Turn, t task.Task) (eval.Candidate, error) {
	r, err := turn.Evaluate(ctx, t, t.Initial(), 0)
	if err != nil {
		return eval.Candidate{}, fmt.Errorf("evolve: evaluating the initial program of %s: %w", t.Name(), err)
	}
	return eval.Candidate{Program: t.Initial(), Result: r}, nil
}

// remembered scores program, unless the run remembers its result.
func (t *Turn) remembered(ctx context.Context, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	name, known := t.programs.Name(e)
	key := record.KeyOf(name, memory.Trim(program), fmt.Sprint(sample))
	if !known {
		v, err := t.evaluate(ctx, key, e, program, sample)
		if err == nil {
			// one by itself each time
			t.noteScored(memory.Scoring{Key: t.programs.Unique(key), Of: key, Asked: v.Asked, Took: v.Took})
		}
		return v.Result, err
	}
	// If an equal program is being evaluated already, Do waits for its result instead of paying for another.
	v, err := t.programs.Do(ctx, key, func() (memory.Verdict, error) { return t.evaluate(ctx, key, e, program, sample) })
	if err == nil && v.Cut && t.journal != nil {
		v, err = t.evaluate(ctx, key, e, program, sample) // recalls it
	}
	if err == nil {
		t.noteScored(memory.Scoring{Key: key, Of: key, Asked: v.Asked, Took: v.Took})
	}
	return v.Clone(), err // a search may change the maps of its result, and the memory must not
}

// evaluate scores program. The result is recalled from the journal, or else made within the budget and recorded.
func (t *Turn) evaluate(ctx context.Context, key record.Key, e eval.Evaluator, program string, sample int) (
	v memory.Verdict, err error) {

	defer func() { t.noteUnscored(key, err) }()
	a := &memory.Asked{}
	if v, found, err := t.earlier(ctx, a, key); found || err != nil {
		return v, err
	}
	r, took, err := t.meter(ctx, e, program, sample, a)
	err = t.bear(ctx, a, err)
	if err != nil {
		t.noteCalls(madeBy(a)) // paid for, though they brought no result to share
		return memory.Verdict{}, t.unscored(a, err)
	}
	return memory.Verdict{Result: r, Asked: a.Any(), Took: t.evalTime(took)}, t.record(a, program, r, took)
}

// earlier returns what an evaluation brought in an earlier incarnation. If the journal does not say, it waits until the
// evaluation may be made: what the file holds is in the accounts only when replay is over, and a run that is over gave
// this evaluation up and has to give it up again to have the same result.
func (t *Turn) earlier(ctx context.Context, a *memory.Asked, key record.Key) (
	v memory.Verdict, found bool, err error) {

	if t.journal == nil {
		return memory.Verdict{}, false, nil
	}
	v, found, err = t.recallEvaluation(a, key)
	if !found && err == nil && !t.past.Ended {
		err = t.awaitLive(ctx)
	}
	return v, found, err
}

// unscored records that the budget has no room for an evaluation, or that it was lost, and returns the error that it
// ends with. The search goes on without the score. With room for it a resumed run would not. Any other error is not
// recorded.
func (t *Turn) unscored(a *memory.Asked, err error) error {
	limit, _ := Refused(err)
	if limit == "" && !Lost(err) {
		return err
	}
	if t.journal != nil {
		r := record.Record{Kind: record.Refusal, Limit: limit, Asked: a.Told(), Error: lostRecord(err)}
		if bad := t.journal.Write(a.ID, r); bad != nil {
			return bad
		}
	}
	if limit == "" {
		return err
	}
	return &fault.Refused{Limit: limit} // without the evaluator's words, which a run made again does not have
}

// recallEvaluation returns what the evaluation brought in an earlier incarnation, if the journal has it, and the
// calls that it made. The evaluator is not asked again, so nobody but the journal knows them.
func (t *Turn) recallEvaluation(a *memory.Asked, key record.Key) (v memory.Verdict, found bool, err error) {
	t.arrears.RLock()
	defer t.arrears.RUnlock()
	a.ID = t.journal.Claim(key)
	r, err := t.journal.RecallEvaluation(a.ID, t.past.Ended)
	switch {
	case err != nil || r == nil:
		return memory.Verdict{}, false, err
	case r.N != a.ID.N && r.Kind == record.Refusal && (t.past.Ended || t.journal.Finished()):
		return memory.Verdict{}, false, notScored(r)
	case r.N != a.ID.N && r.Kind == record.Refusal: // the budget may have room now, and the failed call may be answered
		return memory.Verdict{}, false, nil
	case r.N != a.ID.N: // an earlier occurrence, booked then: the memory has only forgotten it
		return memory.Verdict{Result: *r.Result, Took: t.evalTime(r.Took)}, true, nil
	}
	if err := t.recallAsked(a, r.Asked); err != nil {
		return memory.Verdict{}, false, err
	}
	if r.Kind == record.Refusal {
		t.noteCalls(madeBy(a))
		return memory.Verdict{}, false, notScored(r)
	}
	if !t.arrears.counted {
		t.bookScored(r)
	}
	return memory.Verdict{Result: *r.Result, Asked: a.Any(), Took: t.evalTime(r.Took)}, true, nil
}

// recallScored notes an evaluation of a session that is not made again.
func (t *Turn) recallScored(ctx context.Context, of record.Scored) error {
	key, err := of.Whole()
	if err != nil {
		return err
	}
	a := &memory.Asked{}
	recall := func() (memory.Verdict, error) {
		v, found, err := t.recallEvaluation(a, key)
		if !found && err == nil && !of.None {
			err = t.journal.Diverged(t.pull, a.ID)
		}
		return v, err
	}
	if of.None { // what it paid for is noted as it was then
		_, err := recall()
		if limit, _ := Refused(err); limit == "" && !Lost(err) {
			return err
		}
		t.noteError(err)
		return nil
	}
	var v memory.Verdict
	s := memory.Scoring{Key: key, Of: key, Tuned: of.Tuned}
	if of.Apart {
		s.Key = t.programs.Unique(key)
		v, err = recall()
	} else {
		v, err = t.programs.Do(ctx, key, recall)
	}
	if err != nil {
		return err
	}
	if !of.Tuned {
		s.Asked, s.Took = v.Asked, v.Took
	}
	t.noteScored(s)
	return nil
}

// record writes a result to the journal. It need not be on disk at once: to make it again costs no call, and a
// sync for each would take longer than many evaluations do.
func (t *Turn) record(a *memory.Asked, program string, r eval.Result, took time.Duration) error {
	if t.journal == nil {
		return nil
	}
	name, err := t.journal.WriteProgram(program)
	if err != nil {
		return err
	}
	rec := record.Record{Kind: record.Evaluation, Program: name, Result: &r, Took: took, Asked: a.Told()}
	if t.claiming {
		rec.For = freshSample
	}
	return t.journal.Write(a.ID, rec)
}

// bookScored books an evaluation that comes from the journal.
func (s *shared) bookScored(r *record.Record) {
	if r.Kind == record.Tuning {
		s.ledger.Settle(ledger.Amounts{}, ledger.Amounts{TuneEvaluations: 1})
		return
	}
	s.bookEvaluation(ledger.Amounts{}, r.Took)
}

// bookEvaluation books an evaluation that took this long, for which set was set aside.
func (s *shared) bookEvaluation(set ledger.Amounts, took time.Duration) {
	s.ledger.Settle(set, ledger.Amounts{Evaluations: 1, EvalTime: s.evalTime(took)})
}

// evalTime returns what an evaluation that took this long counts in the budget: no more than was set aside, though an
// evaluator may take its time to notice that it is cut off. With more the limit would be passed.
func (s *shared) evalTime(took time.Duration) time.Duration {
	if s.budget.EvalTime > 0 {
		return min(took, s.budget.EvalWorst)
	}
	return took
}

// meter scores program within the budget and returns how long that took. If the budget limits evaluators' time,
// the most that an evaluation may take is set aside, and an evaluation that takes longer is cut off.
func (t *Turn) meter(ctx context.Context, e eval.Evaluator, program string, sample int, a *memory.Asked) (
	r eval.Result, took time.Duration, err error) {

	worst := t.budget.EvalWorst
	limits := t.budget.EvalTime > 0
	set := ledger.Amounts{Evaluations: 1}
	if limits {
		set.EvalTime = worst
	}
	// No drain is passed, so a reply that was paid for is scored even when nothing more is sent. Room is set aside
	// for evaluations that run and for those that wait in an evaluator's own queue, at most as many as there are
	// children. Waiting there takes none of the time (see waits.Stopwatch).
	if err := t.ledger.Reserve(ctx, nil, set); err != nil {
		return eval.Result{}, 0, err
	}
	r, took, err = clocked(ctx, e, program, sample, worst, limits, t.asEvaluator(a))
	if err != nil {
		t.ledger.Settle(set, ledger.Amounts{})
		return eval.Result{}, took, err
	}
	t.bookEvaluation(set, took)
	return r.Clean(), took, nil
}

// asking is what llm.Ask calls in an evaluator.
type asking func(context.Context, llm.LLM, llm.Request) (llm.Reply, error)

// clocked scores program and returns how long that took. With limits, an evaluation that takes longer than worst is cut
// off, and its program is invalid.
func clocked(ctx context.Context, e eval.Evaluator, program string, sample int, worst time.Duration, limits bool,
	ask asking) (
	r eval.Result, took time.Duration, err error) {

	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	w := waits.StartWatch(cancel, worst, limits)
	inner := llm.WithTrace(limited, &llm.Trace{Queued: w.Queued, Ask: ask})
	bad := guard("the evaluator's Evaluate", func() { r, err = eval.EvaluateSample(inner, e, program, sample) })
	took = w.Stop()
	cutOff := limits && ctx.Err() == nil && limited.Err() != nil
	switch {
	case bad != nil:
		err = bad
	case err != nil && cutOff: // a slow program is a bad candidate, and not an error of the evaluator
		r, err = eval.Invalid("evaluation took more than the %v that the budget sets aside for one", worst), nil
	case err != nil && ctx.Err() == nil:
		if _, refused := Refused(err); !refused {
			err = &fault.Evaluation{Why: err}
		}
	}
	return r, took, err
}

// asEvaluator returns what llm.Ask calls in an evaluator. The calls use the budget of the run, and are noted with the
// evaluation, as all who share its result share them.
func (t *Turn) asEvaluator(a *memory.Asked) asking {
	return func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		reply, err := t.askOnce(ctx, purpose{kind: "evaluation", within: a}, l, req)
		if err != nil && lasting(ctx, err) == nil {
			a.Fail()
		}
		return reply, err
	}
}

// mostLost is how many evaluations in a row a failed call may cost before the run ends. Each costs a child that is
// paid for.
const mostLost = 32

// bear returns what err means for the run. An evaluator that fails after a call of it has failed costs one
// evaluation, as a failed call costs one child, unless too many in a row are lost.
func (t *Turn) bear(ctx context.Context, a *memory.Asked, err error) error {
	var failed *fault.Evaluation
	switch {
	case err == nil:
		t.lost.Store(0)
	case errors.As(err, &failed) && a.Failed() && ctx.Err() == nil:
		n := t.lost.Add(1)
		if n < mostLost {
			return &fault.Lost{Why: failed.Why}
		}
		return &fault.Evaluation{
			Why: fmt.Errorf("evolve: %d evaluations in a row were lost to failed calls, the last with: %w", n, failed.Why)}
	}
	return err
}

// lostRecord returns why an evaluation was lost for its record, nil if the budget refused it.
func lostRecord(err error) *llm.ErrorRecord {
	var l *fault.Lost
	if !errors.As(err, &l) {
		return nil
	}
	return llm.NewErrorRecord(l.Why)
}

// notScored returns the error of an evaluation that has no result in the journal.
func notScored(r *record.Record) error {
	if r.Error != nil {
		return &fault.Lost{Why: r.Error.Err()}
	}
	return &fault.Refused{Limit: r.Limit}
}

// Tune scores program with e for a tuner, which tries many values for the numbers of a program and has one of them
// evaluated for real, or for an agent that tries what it has made. In a run it recalls the result from the journal. If the journal has none, it admits the
// evaluation, makes it, records it, and books it: in Budget.TuneEvaluations and in nothing else. The same program is
// scored once in a run. What it scored for [Turn.Evaluate] does not count here, and the other way round.
//
// The result has a score, or the reason why there is none, and nothing else. A journal would otherwise be filled by
// the artifacts of programs that nobody keeps.
//
// After an error for which [Refused] is true the tuner must try nothing more. If the error names TuneEvaluations as the
// limit, the tuner returns its best so far, and neither the step nor the run ends. Any other error means
// that the evaluation was given up, or that evaluation itself failed, which ends the run after the step. So does
// an evaluator that asks a model: the call would be one of Budget.Calls.
//
// If the Budget has EvalWorst, an evaluation that takes longer is cut off, and its program is invalid. The parts of an
// [eval.Composite] are one evaluation together.
func (t *Turn) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	if !t.recording() {
		r, err := e.Evaluate(ctx, program)
		return tuneResult(r), err
	}
	if err := t.doomed(); err != nil {
		t.noteError(err)
		return eval.Result{}, err
	}
	name, known := t.programs.Name(e)
	of := record.KeyOf("tuning", name, memory.Trim(program))
	key := of
	var v memory.Verdict
	var err error
	if known {
		v, err = t.programs.Do(ctx, key, func() (memory.Verdict, error) { return t.tune(ctx, key, e, program) })
	} else {
		v, err = t.tune(ctx, key, e, program)
		key = t.programs.Unique(key)
	}
	if err == nil {
		t.noteScored(memory.Scoring{Key: key, Of: of, Tuned: true})
	} else if limit, _ := Refused(err); limit == "" {
		t.noteError(err)
	}
	return v.Result, err
}

// TuneBudget returns how many tune evaluations the arm may make in the whole run: Budget.TuneEvaluations less
// those that the other arms had made when the step began. It is [math.MaxInt] for an arm stepped by hand. Those
// that other arms under way make meanwhile are not known: what a search decides by it would be another when it is
// made again.
func (t *Turn) TuneBudget() int {
	if !t.recording() {
		return math.MaxInt
	}
	return max(0, t.budget.TuneEvaluations-t.beside)
}

// tuneResult returns what Tune keeps of a result.
func tuneResult(r eval.Result) eval.Result {
	r = r.Clean()
	return eval.Result{Valid: r.Valid, Score: r.Score, Reason: r.Reason}
}

// tune recalls a tune evaluation from the journal, or makes it within the budget and records it.
func (t *Turn) tune(ctx context.Context, key record.Key, e eval.Evaluator, program string) (v memory.Verdict, err error) {
	defer func() { t.noteUnscored(key, err) }()
	a := &memory.Asked{}
	if v, found, err := t.earlier(ctx, a, key); found || err != nil {
		return v, err
	}
	set := ledger.Amounts{TuneEvaluations: 1}
	// Unlike an evaluation, which scores what was paid for, it is not begun once the run is coming to an end.
	if err := t.ledger.Reserve(ctx, llm.TraceOf(ctx).Drain, set); err != nil {
		return memory.Verdict{}, t.unscored(a, err) // the tuner goes on with what it has
	}
	worst := t.budget.EvalWorst
	r, took, err := clocked(ctx, e, program, 0, worst, worst > 0, refuseToAsk)
	if err != nil {
		t.ledger.Settle(set, ledger.Amounts{})
		return memory.Verdict{}, err
	}
	t.ledger.Settle(set, set)
	r = tuneResult(r)
	if t.journal != nil {
		err = t.journal.Write(a.ID, record.Record{Kind: record.Tuning, Result: &r, Took: took})
	}
	return memory.Verdict{Result: r}, err
}

// refuseToAsk is what llm.Ask calls in a tune evaluation.
func refuseToAsk(context.Context, llm.LLM, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, errors.New("evolve: the evaluator of a Turn.Tune asks a model: " +
		"its calls would count in Budget.Calls, so give the tuner one that asks none")
}
