package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// Evaluate scores program with e, or with the parts of a Composite; see evolve's Turn. Errors are noted.
func (s *Step) Evaluate(ctx context.Context, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	if s != nil {
		if err := s.doomed(); err != nil {
			s.noteError(err)
			return eval.Result{}, err
		}
	}
	return s.Score(ctx, e, program, sample)
}

// Score is Evaluate, also for a reply that was on its way when a fault of a model or of the search ended the run: a
// Breeder scores it, because it is paid for and may be the best.
func (s *Step) Score(ctx context.Context, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	if c, ok := e.(eval.Composite); ok {
		return s.evaluateParts(ctx, c, program, sample)
	}
	if s == nil {
		r, err := eval.EvaluateSample(ctx, e, program, sample)
		return r.Clean(), err
	}
	var r eval.Result
	err := s.doomed()
	// After some faults no program can be scored any more, or no score kept.
	if err == nil || !OfJournal(err) && !OfEvaluation(err) {
		r, err = s.remembered(ctx, e, program, sample)
	}
	s.noteError(err)
	return r, err
}

// evaluateParts scores program with the parts of c.
//
// Where the budget refuses one part, the others are begun all the same. The journal holds each part's result or
// refusal, and a run that is made again must not ask for a part that was not begun then. After any other error the run
// ends, and what was not begun is made when it goes on.
func (s *Step) evaluateParts(ctx context.Context, c eval.Composite, program string, sample int) (
	r eval.Result, err error) {

	part := func(e eval.Evaluator) (eval.Result, error) { return s.Score(ctx, e, program, 0) }
	refused := func(err error) bool {
		limit, refused := Refusal(err)
		return refused && limit != ""
	}
	bad := Guard("the evaluator's Parts or Join", func() {
		r, err = eval.ComposeBy(c, program, sample, part, refused)
	})
	err = cmp.Or(bad, err)
	if err != nil && ctx.Err() == nil && !Fatal(err) && !IsLost(err) {
		if _, refused := Refusal(err); !refused {
			err = &EvaluationError{Why: err} // of Parts or Join
		}
	}
	if s != nil {
		s.noteError(err)
	}
	return r, err
}

// remembered scores program, unless the run remembers its result.
func (s *Step) remembered(ctx context.Context, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	name, known := s.Programs.Name(e)
	key := record.KeyOf(name, Trim(program), fmt.Sprint(sample))
	if !known {
		v, err := s.evaluate(ctx, key, e, program, sample)
		if err == nil {
			// one by itself each time
			s.noteScored(Evaluation{Key: s.Programs.Unique(key), Of: key, Asked: v.Asked, Took: v.Took})
		}
		return v.Result, err
	}
	// If an equal program is being evaluated already, Do waits for its result instead of paying for another.
	v, err := s.Programs.Do(ctx, key, func() (Result, error) { return s.evaluate(ctx, key, e, program, sample) })
	if err == nil && v.Cut && s.Journal != nil {
		v, err = s.evaluate(ctx, key, e, program, sample) // recalls it
	}
	if err == nil {
		s.noteScored(Evaluation{Key: key, Of: key, Asked: v.Asked, Took: v.Took})
	}
	return v.Clone(), err // a search may change the maps of its result, and the memory must not
}

// evaluate scores program. The result is recalled from the journal, or else made within the budget and recorded.
func (s *Step) evaluate(ctx context.Context, key record.Key, e eval.Evaluator, program string, sample int) (
	v Result, err error) {

	defer func() { s.noteUnscored(key, err) }()
	a := &Asked{}
	if v, found, err := s.earlier(ctx, a, key); found || err != nil {
		return v, err
	}
	r, took, err := s.meter(ctx, e, program, sample, a)
	err = s.bear(ctx, a, err)
	if err != nil {
		s.noteCalls(a.Calls()) // paid for, though they brought no result to share
		return Result{}, s.unscored(a, err)
	}
	return Result{Result: r, Asked: a.Any(), Took: s.evalTime(took)}, s.record(a, program, r, took)
}

// earlier returns what an evaluation brought in an earlier incarnation. If the journal does not say, it waits until the
// evaluation may be made: what the file holds is in the accounts only when replay is over, and a run that is over
// abandoned this evaluation and has to do so again to have the same result.
func (s *Step) earlier(ctx context.Context, a *Asked, key record.Key) (
	v Result, found bool, err error) {

	if s.Journal == nil {
		return Result{}, false, nil
	}
	v, found, err = s.recallEvaluation(a, key)
	if !found && err == nil && !s.Past.Ended {
		err = s.awaitLive(ctx)
	}
	return v, found, err
}

// unscored records that the budget has no room for an evaluation, or that it was lost, and returns the error that it
// ends with. The search goes on without the score. With room for it a resumed run would not. Any other error is not
// recorded.
func (s *Step) unscored(a *Asked, err error) error {
	limit, _ := Refusal(err)
	if limit == "" && !IsLost(err) {
		return err
	}
	if s.Journal != nil {
		r := record.Record{Kind: record.Refusal, Limit: limit, Asked: a.Told(), Error: lostRecord(err)}
		if bad := s.Journal.Write(a.ID, r); bad != nil {
			return bad
		}
	}
	if limit == "" {
		return err
	}
	return &Refused{Limit: limit} // without the evaluator's words, which a run made again does not have
}

// recallEvaluation returns what the evaluation brought in an earlier incarnation, if the journal has it, and the
// calls that it made. The evaluator is not asked again, so nobody but the journal knows them.
func (s *Step) recallEvaluation(a *Asked, key record.Key) (v Result, found bool, err error) {
	s.arrears.RLock()
	defer s.arrears.RUnlock()
	a.ID = s.Journal.Claim(key)
	r, err := s.Journal.RecallEvaluation(a.ID, s.Past.Ended)
	switch {
	case err != nil || r == nil:
		return Result{}, false, err
	case r.N != a.ID.N && r.Kind == record.Refusal && (s.Past.Ended || s.Journal.Finished()):
		return Result{}, false, notScored(r)
	case r.N != a.ID.N && r.Kind == record.Refusal: // the budget may have room now, and the failed call may be answered
		return Result{}, false, nil
	case r.N != a.ID.N: // an earlier occurrence, booked then: the memory has only forgotten it
		return Result{Result: *r.Result, Took: s.evalTime(r.Took)}, true, nil
	}
	if err := s.recallAsked(a, r.Asked); err != nil {
		return Result{}, false, err
	}
	if r.Kind == record.Refusal {
		s.noteCalls(a.Calls())
		return Result{}, false, notScored(r)
	}
	if !s.arrears.counted {
		s.bookScored(r)
	}
	return Result{Result: *r.Result, Asked: a.Any(), Took: s.evalTime(r.Took)}, true, nil
}

// recallScored notes an evaluation of a session that is not made again.
func (s *Step) recallScored(ctx context.Context, of record.Scored) error {
	key, err := of.Whole()
	if err != nil {
		return err
	}
	a := &Asked{}
	recall := func() (Result, error) {
		v, found, err := s.recallEvaluation(a, key)
		if !found && err == nil && !of.None {
			err = s.Journal.Diverged(s.Pull, a.ID)
		}
		return v, err
	}
	if of.None { // what it paid for is noted as it was then
		_, err := recall()
		if limit, _ := Refusal(err); limit == "" && !IsLost(err) {
			return err
		}
		s.noteError(err)
		return nil
	}
	var v Result
	made := Evaluation{Key: key, Of: key, Tuned: of.Tuned}
	if of.Apart {
		made.Key = s.Programs.Unique(key)
		v, err = recall()
	} else {
		v, err = s.Programs.Do(ctx, key, recall)
	}
	if err != nil {
		return err
	}
	if !of.Tuned {
		made.Asked, made.Took = v.Asked, v.Took
	}
	s.noteScored(made)
	return nil
}

// record writes a result to the journal. It need not be on disk at once: to make it again costs no call, and a
// sync for each would take longer than many evaluations do.
func (s *Step) record(a *Asked, program string, r eval.Result, took time.Duration) error {
	if s.Journal == nil {
		return nil
	}
	name, err := s.Journal.WriteProgram(program)
	if err != nil {
		return err
	}
	rec := record.Record{Kind: record.Evaluation, Program: name, Result: &r, Took: took, Asked: a.Told()}
	if s.Claiming {
		rec.For = freshSample
	}
	return s.Journal.Write(a.ID, rec)
}

// bookScored books an evaluation that comes from the journal.
func (r *Run) bookScored(e *record.Record) {
	if e.Kind == record.Tuning {
		r.Ledger.Settle(Amounts{}, Amounts{TuneEvaluations: 1})
		return
	}
	r.bookEvaluation(Amounts{}, e.Took)
}

// bookEvaluation books an evaluation that took this long, for which set was set aside.
func (r *Run) bookEvaluation(set Amounts, took time.Duration) {
	r.Ledger.Settle(set, Amounts{Evaluations: 1, EvalTime: r.evalTime(took)})
}

// evalTime returns what an evaluation that took this long counts in the budget: no more than was set aside, though an
// evaluator may take its time to notice that it is cut off. With more the limit would be passed.
func (r *Run) evalTime(took time.Duration) time.Duration {
	if r.EvalTime > 0 {
		return min(took, r.EvalWorst)
	}
	return took
}

// meter scores program within the budget and returns how long that took. If the budget limits evaluators' time,
// the most that an evaluation may take is set aside, and an evaluation that takes longer is cut off.
func (s *Step) meter(ctx context.Context, e eval.Evaluator, program string, sample int, a *Asked) (
	r eval.Result, took time.Duration, err error) {

	worst := s.EvalWorst
	limits := s.EvalTime > 0
	set := Amounts{Evaluations: 1}
	if limits {
		set.EvalTime = worst
	}
	// No drain is passed, so a reply that was paid for is scored even when nothing more is sent. Room is set aside
	// for evaluations that run and for those that wait in an evaluator's own queue, at most as many as there are
	// children. Waiting there takes none of the time (see Stopwatch).
	if err := s.Ledger.Reserve(ctx, nil, set); err != nil {
		return eval.Result{}, 0, err
	}
	r, took, err = clocked(ctx, e, program, sample, worst, limits, s.asEvaluator(a))
	if err != nil {
		s.Ledger.Settle(set, Amounts{})
		return eval.Result{}, took, err
	}
	s.bookEvaluation(set, took)
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
	w := StartWatch(cancel, worst, limits)
	inner := llm.WithTrace(limited, &llm.Trace{Queued: w.Queued, Ask: ask})
	bad := Guard("the evaluator's Evaluate", func() { r, err = eval.EvaluateSample(inner, e, program, sample) })
	took = w.Stop()
	cutOff := limits && ctx.Err() == nil && limited.Err() != nil
	switch {
	case bad != nil:
		err = bad
	case err != nil && cutOff: // a slow program is a bad candidate, and not an error of the evaluator
		r, err = eval.Invalid("evaluation took more than the %v that the budget sets aside for one", worst), nil
	case err != nil && ctx.Err() == nil:
		if _, refused := Refusal(err); !refused {
			err = &EvaluationError{Why: err}
		}
	}
	return r, took, err
}

// asEvaluator returns what llm.Ask calls in an evaluator. The calls use the budget of the run, and are noted with the
// evaluation, as all who share its result share them.
func (s *Step) asEvaluator(a *Asked) asking {
	return func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		reply, err := s.askOnce(ctx, purpose{kind: "evaluation", within: a}, l, req)
		if err != nil && Lasting(ctx, err) == nil {
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
func (s *Step) bear(ctx context.Context, a *Asked, err error) error {
	var failed *EvaluationError
	switch {
	case err == nil:
		s.lost.Store(0)
	case errors.As(err, &failed) && a.Failed() && ctx.Err() == nil:
		n := s.lost.Add(1)
		if n < mostLost {
			return &Lost{Why: failed.Why}
		}
		return &EvaluationError{
			Why: fmt.Errorf("evolve: %d evaluations in a row were lost to failed calls, the last with: %w", n, failed.Why)}
	}
	return err
}

// lostRecord returns why an evaluation was lost for its record, nil if the budget refused it.
func lostRecord(err error) *llm.ErrorRecord {
	var l *Lost
	if !errors.As(err, &l) {
		return nil
	}
	return llm.NewErrorRecord(l.Why)
}

// notScored returns the error of an evaluation that has no result in the journal.
func notScored(r *record.Record) error {
	if r.Error != nil {
		return &Lost{Why: r.Error.Err()}
	}
	return &Refused{Limit: r.Limit}
}

// Tune scores program with e for a tuner or an agent; see evolve's Turn. A refusal is not noted: the step goes on.
func (s *Step) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	if s == nil {
		r, err := e.Evaluate(ctx, program)
		return tuneResult(r), err
	}
	if err := s.doomed(); err != nil {
		s.noteError(err)
		return eval.Result{}, err
	}
	name, known := s.Programs.Name(e)
	of := record.KeyOf("tuning", name, Trim(program))
	key := of
	var v Result
	var err error
	if known {
		v, err = s.Programs.Do(ctx, key, func() (Result, error) { return s.tune(ctx, key, e, program) })
	} else {
		v, err = s.tune(ctx, key, e, program)
		key = s.Programs.Unique(key)
	}
	if err == nil {
		s.noteScored(Evaluation{Key: key, Of: of, Tuned: true})
	} else if limit, _ := Refusal(err); limit == "" {
		s.noteError(err)
	}
	return v.Result, err
}

// TuneBudget returns how many tune evaluations the arm may make in the whole run.
func (s *Step) TuneBudget() int {
	if s == nil {
		return math.MaxInt
	}
	return max(0, s.TuneEvaluations-s.Beside)
}

// tuneResult returns what Tune keeps of a result.
func tuneResult(r eval.Result) eval.Result {
	r = r.Clean()
	return eval.Result{Valid: r.Valid, Score: r.Score, Reason: r.Reason}
}

// tune recalls a tune evaluation from the journal, or makes it within the budget and records it.
func (s *Step) tune(ctx context.Context, key record.Key, e eval.Evaluator, program string) (
	v Result, err error) {

	defer func() { s.noteUnscored(key, err) }()
	a := &Asked{}
	if v, found, err := s.earlier(ctx, a, key); found || err != nil {
		return v, err
	}
	set := Amounts{TuneEvaluations: 1}
	// Unlike an evaluation, which scores what was paid for, it is not begun once the run is coming to an end.
	if err := s.Ledger.Reserve(ctx, llm.TraceOf(ctx).Drain, set); err != nil {
		return Result{}, s.unscored(a, err) // the tuner goes on with what it has
	}
	worst := s.EvalWorst
	r, took, err := clocked(ctx, e, program, 0, worst, worst > 0, refuseToAsk)
	if err != nil {
		s.Ledger.Settle(set, Amounts{})
		return Result{}, err
	}
	s.Ledger.Settle(set, set)
	r = tuneResult(r)
	if s.Journal != nil {
		err = s.Journal.Write(a.ID, record.Record{Kind: record.Tuning, Result: &r, Took: took})
	}
	return Result{Result: r}, err
}

// refuseToAsk is what llm.Ask calls in a tune evaluation.
func refuseToAsk(context.Context, llm.LLM, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, errors.New("evolve: the evaluator of a Turn.Tune asks a model: " +
		"its calls would count in Budget.Calls, so give the tuner one that asks none")
}
