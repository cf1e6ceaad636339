package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A scoring is what is evaluated: a program for its score, or for a tuner.
type scoring struct {
	by      eval.Evaluator
	program string
	sample  int
	tuned   bool
}

// An Asked is what one evaluation asks of models. All who share an evaluation's result share this. So its calls count
// once, for the first outcome that has the evaluation. It is safe for concurrent use. The zero value has no call.
type Asked struct {
	id record.ID // of the evaluation

	mu     sync.Mutex
	calls  []Call
	told   []record.Asked // the same for the journal, which has to give them back with the result
	failed bool           // one failed by itself
}

func (a *Asked) add(of record.Asked, made Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told = append(a.told, of); len(made.Attempts) > 0 {
		a.calls = append(a.calls, made)
	}
}

// Calls returns the calls, which are all made.
func (a *Asked) Calls() []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls
}

// ended returns the calls as the journal names them, and whether one failed by itself.
func (a *Asked) ended() (told []record.Asked, failed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.told), a.failed
}

// any returns a, or nil if it has no call.
func (a *Asked) any() *Asked {
	if len(a.Calls()) == 0 {
		return nil
	}
	return a
}

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
func (s *Step) Score(ctx context.Context, e eval.Evaluator, program string, sample int) (r eval.Result, err error) {
	c, composite := e.(eval.Composite)
	switch {
	case composite:
		r, err = s.evaluateParts(ctx, c, program, sample)
	case s == nil:
		r, err = eval.EvaluateSample(ctx, e, program, sample)
		r = r.Clean()
	default:
		// After some faults no program can be scored any more, or no score kept.
		if err = s.doomed(); err == nil || !OfJournal(err) && !OfEvaluation(err) {
			r, err = s.score(ctx, scoring{by: e, program: program, sample: sample})
		}
	}
	if s != nil {
		s.noteError(err)
	}
	return r, err
}

// evaluateParts scores program with the parts of c.
//
// Where the budget refuses one part, the others are begun all the same. The journal holds each part's result or
// refusal, and a run that is made again must not ask for a part that was not begun then. After any other error the
// run ends, and what was not begun is made when it goes on.
func (s *Step) evaluateParts(ctx context.Context, c eval.Composite, program string, sample int) (
	r eval.Result, err error) {

	part := func(e eval.Evaluator) (eval.Result, error) { return s.Score(ctx, e, program, 0) }
	bad := Guard("the evaluator's Parts or Join", func() {
		r, err = eval.ComposeBy(c, program, sample, part, func(err error) bool { return refusedBy(err) != "" })
	})
	if err = cmp.Or(bad, err); err != nil && Lasting(ctx, err) == nil && !IsLost(err) {
		err = &EvaluationError{Why: err} // of Parts or Join
	}
	return r, err
}

// Tune scores program with e for a tuner or an agent; see evolve's Turn. A refusal is not noted: the step goes on.
func (s *Step) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	if s == nil {
		r, err := e.Evaluate(ctx, program)
		return tuneResult(r), err
	}
	err := s.doomed()
	var r eval.Result
	if err == nil {
		r, err = s.score(ctx, scoring{by: e, program: program, tuned: true})
	}
	if refusedBy(err) == "" {
		s.noteError(err)
	}
	return r, err
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

// score makes an evaluation, unless the run remembers its result.
func (s *Step) score(ctx context.Context, e scoring) (eval.Result, error) {
	name, known := s.Programs.Name(e.by)
	key := record.KeyOf(name, Trim(e.program), fmt.Sprint(e.sample))
	if e.tuned {
		key = record.KeyOf("tuning", name, Trim(e.program))
	}
	v, err := s.once(ctx, Evaluation{Key: key, Of: key, Tuned: e.tuned}, known, func() (Result, error) {
		return s.evaluate(ctx, key, e)
	})
	return v.Clone(), err // a search may change the maps of its result, and the memory must not
}

// once calls do for an evaluation whose result the run does not remember, and notes the evaluation. One by an
// evaluator that is not known counts each time.
func (s *Step) once(ctx context.Context, e Evaluation, known bool, do func() (Result, error)) (v Result, err error) {
	if known {
		// If an equal program is being evaluated already, Do waits for its result instead of paying for another.
		v, err = s.Programs.Do(ctx, e.Key, do)
	}
	if !known || err == nil && v.Cut && s.Journal != nil { // which recalls it
		v, err = do()
	}
	if err != nil {
		return Result{}, err
	}
	if !known {
		e.Key = s.Programs.Unique(e.Of)
	}
	if !e.Tuned {
		e.Asked, e.Took = v.Asked, v.Took
	}
	s.noteScored(e)
	return v, nil
}

// evaluate recalls an evaluation from the journal, or else makes it within the budget and records it.
//
// If the journal does not have it, it waits until the evaluation may be made: what the file holds is in the accounts
// only when replay is over, and a run that is over abandoned this evaluation and has to do so again to have the same
// result.
func (s *Step) evaluate(ctx context.Context, key record.Key, e scoring) (v Result, err error) {
	defer func() {
		if refusedBy(err) != "" || IsLost(err) { // a journal counts that a session asked for it
			s.noteEffect(record.Scored{Key: hexadecimal(key), None: true})
		}
	}()
	a := &Asked{}
	if s.Journal != nil {
		v, found, err := s.recallEvaluation(a, key)
		if !found && err == nil && !s.Past.Ended {
			err = s.awaitLive(ctx)
		}
		if found || err != nil {
			return v, err
		}
	}
	r, took, err := s.meter(ctx, e, a)
	if !e.tuned {
		err = s.bear(ctx, a, err)
	}
	if err != nil {
		s.noteCalls(a.Calls()...) // paid for, though they brought no result to share
		return Result{}, s.unscored(a, err)
	}
	return Result{Result: r, Asked: a.any(), Took: s.evalTime(took)}, s.record(a, e, r, took)
}

// unscored records that the budget has no room for an evaluation, or that it was lost, and returns the error that it
// ends with. The search goes on without the score. With room for it a resumed run would not. Any other error is not
// recorded.
func (s *Step) unscored(a *Asked, err error) error {
	limit := refusedBy(err)
	if limit == "" && !IsLost(err) {
		return err
	}
	r := record.Record{Kind: record.Refusal, Limit: limit}
	r.Asked, _ = a.ended()
	if limit != "" {
		err = &Refused{Limit: limit} // without the evaluator's words, which a run made again does not have
	}
	var l *Lost
	if errors.As(err, &l) {
		r.Error = llm.NewErrorRecord(l.Why)
	}
	if s.Journal != nil {
		if bad := s.Journal.Write(a.id, r); bad != nil {
			return bad
		}
	}
	return err
}

// recallEvaluation returns what the evaluation brought in an earlier incarnation, if the journal has it, and the
// calls that it made. The evaluator is not asked again, so nobody but the journal knows them.
func (s *Step) recallEvaluation(a *Asked, key record.Key) (v Result, found bool, err error) {
	s.arrears.RLock()
	defer s.arrears.RUnlock()
	a.id = s.Journal.Claim(key)
	r, err := s.Journal.RecallEvaluation(a.id, s.Past.Ended)
	if r == nil || err != nil {
		return Result{}, false, err
	}
	refused := r.Kind == record.Refusal
	earlier := r.N != a.id.N // another occurrence, booked then: the memory has only forgotten it
	if earlier && refused && !s.Past.Ended && !s.Journal.Finished() {
		return Result{}, false, nil // the budget may have room now, and the failed call may be answered
	}
	if !earlier {
		if a.calls, err = s.recallAsked(r.Asked); err != nil {
			return Result{}, false, err
		}
	}
	switch {
	case refused:
		s.noteCalls(a.calls...)
		if r.Error != nil {
			return Result{}, false, &Lost{Why: r.Error.Err()}
		}
		return Result{}, false, &Refused{Limit: r.Limit}
	case !earlier && !s.arrears.counted:
		s.bookScored(r)
	}
	return Result{Result: *r.Result, Asked: a.any(), Took: s.evalTime(r.Took)}, true, nil
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
			err = s.Journal.Diverged(s.Pull, a.id)
		}
		return v, err
	}
	if of.None { // what it paid for is noted as it was then
		_, err := recall()
		if refusedBy(err) == "" && !IsLost(err) {
			return err
		}
		s.noteError(err)
		return nil
	}
	_, err = s.once(ctx, Evaluation{Key: key, Of: key, Tuned: of.Tuned}, !of.Apart, recall)
	return err
}

// record writes a result to the journal. It need not be on disk at once: to make it again costs no call, and a sync
// for each would take longer than many evaluations do.
func (s *Step) record(a *Asked, e scoring, r eval.Result, took time.Duration) (err error) {
	if s.Journal == nil {
		return nil
	}
	rec := record.Record{Kind: record.Tuning, Result: &r, Took: took}
	if !e.tuned {
		if rec.Program, err = s.Journal.WriteProgram(e.program); err != nil {
			return err
		}
		rec.Kind = record.Evaluation
		rec.Asked, _ = a.ended()
	}
	if s.Claiming {
		rec.For = freshSample
	}
	return s.Journal.Write(a.id, rec)
}

// bookScored books an evaluation that comes from the journal.
func (r *Run) bookScored(e *record.Record) {
	r.Ledger.Settle(Amounts{}, r.evaluated(e.Kind == record.Tuning, e.Took))
}

// evaluated returns what an evaluation that took this long counts in the budget.
func (r *Run) evaluated(tuned bool, took time.Duration) Amounts {
	if tuned {
		return Amounts{TuneEvaluations: 1}
	}
	return Amounts{Evaluations: 1, EvalTime: r.evalTime(took)}
}

// evalTime returns no more time than was set aside, or the limit would be passed: an evaluator may take its time to
// notice that it is cut off.
func (r *Run) evalTime(took time.Duration) time.Duration {
	if r.EvalTime > 0 {
		return min(took, r.EvalWorst)
	}
	return took
}

// meter makes an evaluation within the budget and returns how long it took. If the budget limits evaluators' time, the
// most that an evaluation may take is set aside, and an evaluation that takes longer is cut off.
func (s *Step) meter(ctx context.Context, e scoring, a *Asked) (r eval.Result, took time.Duration, err error) {
	set, ask, worst := Amounts{Evaluations: 1}, s.asEvaluator(a), time.Duration(0)
	if s.EvalTime > 0 {
		worst = s.EvalWorst
	}
	set.EvalTime = worst
	// No drain is passed, so a reply that was paid for is scored even when nothing more is sent. A tuner's is not begun
	// then. Room is set aside for evaluations that run and for those that wait in an evaluator's own queue, at most as
	// many as there are children. Waiting there takes none of the time (see Stopwatch).
	var drain <-chan struct{}
	if e.tuned {
		set, ask, worst, drain = Amounts{TuneEvaluations: 1}, refuseToAsk, s.EvalWorst, llm.TraceOf(ctx).Drain
	}
	if err := s.Ledger.Reserve(ctx, drain, set); err != nil {
		return eval.Result{}, 0, err
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	w := StartWatch(cancel, worst)
	inner := llm.WithTrace(limited, &llm.Trace{Queued: w.Queued, Ask: ask})
	bad := Guard("the evaluator's Evaluate", func() { r, err = eval.EvaluateSample(inner, e.by, e.program, e.sample) })
	took = w.Stop()
	_, refused := Refusal(err)
	switch {
	case bad != nil:
		err = bad
	case err != nil && ctx.Err() == nil && limited.Err() != nil: // a slow program is a bad candidate, and no error
		r, err = eval.Invalid("evaluation took more than the %v that the budget sets aside for one", worst), nil
	case err != nil && ctx.Err() == nil && !refused:
		err = &EvaluationError{Why: err}
	}
	if err != nil {
		s.Ledger.Settle(set, Amounts{})
		return eval.Result{}, took, err
	}
	s.Ledger.Settle(set, s.evaluated(e.tuned, took))
	if e.tuned {
		return tuneResult(r), took, nil
	}
	return r.Clean(), took, nil
}

// asEvaluator returns what llm.Ask calls in an evaluator of the step: the call is an aside of the evaluation.
func (s *Step) asEvaluator(a *Asked) func(context.Context, llm.LLM, llm.Request) (llm.Reply, error) {
	return func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		reply, err := s.ask(ctx, purpose{kind: "evaluation", within: a}, l, req)
		if err != nil && Lasting(ctx, err) == nil {
			a.mu.Lock()
			a.failed = true
			a.mu.Unlock()
		}
		return reply.Reply, err
	}
}

// refuseToAsk is what llm.Ask calls in a tune evaluation.
func refuseToAsk(context.Context, llm.LLM, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, errors.New("evolve: the evaluator of a Turn.Tune asks a model: " +
		"its calls would count in Budget.Calls, so give the tuner one that asks none")
}

// mostLost is how many evaluations in a row a failed call may cost before the run ends. Each costs a child that is
// paid for.
const mostLost = 32

// bear returns what err means for the run. An evaluator that fails after a call of it has failed costs one
// evaluation, as a failed call costs one child, unless too many in a row are lost.
func (s *Step) bear(ctx context.Context, a *Asked, err error) error {
	var failed *EvaluationError
	_, asked := a.ended()
	switch {
	case err == nil:
		s.lost.Store(0)
	case errors.As(err, &failed) && asked && ctx.Err() == nil:
		n := s.lost.Add(1)
		if n < mostLost {
			return &Lost{Why: failed.Why}
		}
		return &EvaluationError{
			Why: fmt.Errorf("evolve: %d evaluations in a row were lost to failed calls, the last with: %w", n, failed.Why)}
	}
	return err
}
