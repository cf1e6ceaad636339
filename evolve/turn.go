package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Turn is what a run grants an arm for one step: a share of its budget, its journal, its memory of
// programs. Everything a step asks of a model or an evaluator goes through it, so that it is admitted,
// recorded, recalled and booked in one place, and is in the Result even if the arm forgets it.
//
// It is a parameter of Step and not a value in its context. What limits, records and recalls a call decides
// results, costs and durability. While these were values in a context, one of several wirings could be
// forgotten, and a resumed run then paid for everything again without an error.
//
// A nil *Turn limits and records nothing. It is for an arm stepped by hand. A Turn is safe for concurrent use.
// It must not be used after its step.
type Turn struct {
	*step     // nil where nothing is limited or recorded
	calls int // granted
}

// A step is what happened in one step of a run. Where it differs from what the arm returns, the run believes
// the step. An arm that forgets a call would make the accounts wrong. One that keeps an error to itself would
// spend the budget on an evaluator that is gone. One that returns normally although the run was called off
// would leave a journal that nothing can replay.
//
// The step of an Allocator's arm is part of the Allocator's own step, so what happens in it is noted in both.
type step struct {
	*shared
	pull    int // its number; -1 before the first
	past    journal.Past
	over    func() bool // reports whether the run has given its steps up: the grace period or the wall time is over
	parent  *step       // the allocator's, nil for none
	search  string      // which of the allocator's arms it is of, by place; "" for none
	failing *streak     // of the arm

	mu     sync.Mutex // an arm may ask from several goroutines
	made   []Call     // in the order they ended
	scored []scoring  // evaluations that brought a result, made or remembered
	// limit is the field of the budget that left no room for something. Of several it is the first by name
	// and not by time: which call was refused first is chance, and replay has to name the same one.
	limit string
	cut   bool  // something in it was given up
	fatal error // after which the run cannot go on
	// doom is the fault after which the step asks for nothing new, because it is made again as a whole: fatal, or what
	// ended a Breeder's search.
	doom error
	// took holds how long each Breed of the step took, in order. A [Breadth] decides by these times, so the journal
	// keeps them as they were measured.
	took   []time.Duration
	beside int // tune evaluations that other arms of the run had made when the step began
	judged int // calls that were answered while programs waited for their evaluation
	// claiming says that it takes fresh samples of a run that is over.
	claiming bool
	told     map[address]bool // children that readers of the journal and the observer were told of
}

// shared is what all steps of a run share. A limit, a journal and a memory of programs have to be those of the
// whole run: several steps are made at once, and together they must stay within one budget.
type shared struct {
	ledger   *ledger
	ledgerAt atomic.Int64     // when a child's record had the ledger last, in milliseconds since 1970
	journal  *journal.Journal // nil for none
	programs *programs
	owed     owed
	unheard  unheard
	queued   func() (served func()) // is called when a call begins to wait for a place
	births   chan Event             // of children that were taken in, for the goroutine of Run
	gone     chan struct{}          // closed when nobody receives births: an arm's goroutine may outlive its step, and the run
}

// Calls returns how many model calls the step may make. It is at least 1, and [math.MaxInt] without a limit.
// Calls beyond it are refused, unless other steps leave some of theirs.
func (t *Turn) Calls() int {
	if t == nil {
		return math.MaxInt
	}
	return t.calls
}

// NewTurn returns a Turn for an arm stepped by hand, which may make this many calls. It limits and records
// nothing else. It panics if calls < 1.
func NewTurn(calls int) *Turn {
	if calls < 1 {
		panic(fmt.Sprintf("evolve: NewTurn of %d calls: need at least 1", calls))
	}
	return &Turn{calls: calls}
}

// granted returns t with at most n calls. It never grants more than t has, so an arm within arms cannot pass
// what the run set aside.
func (t *Turn) granted(n int) *Turn {
	if t == nil { // stepped by hand: the limit of an inner allocation holds all the same
		return &Turn{calls: n}
	}
	return &Turn{step: t.step, calls: min(n, t.calls)}
}

// inner returns a turn for one of the arms of an arm that consists of several. It keeps accounts of its own
// beside those of t, because the inner allocation has to know the calls of that arm alone.
func (t *Turn) inner(arm, n int) *Turn {
	in := t.granted(n)
	if in.step != nil {
		s := in.step
		search := strings.TrimPrefix(fmt.Sprintf("%s.%d", s.search, arm), ".")
		in.step = &step{shared: s.shared, pull: s.pull, past: s.past, over: s.over, parent: s, search: search, failing: s.failing, beside: s.beside}
	}
	return in
}

// recording reports whether t belongs to a run.
func (t *Turn) recording() bool { return t != nil && t.step != nil }

// Ask asks l. In a run it recalls the reply from the journal. If the journal has none, it admits the call,
// sends it, makes the reply durable, and settles with the budget, in that order. kind is what the call is for:
// [KindChild], or another word for a call beside the children. Such a call is in [Generation.Asides].
//
// An error for which [Refused] is true means that the call was not made. Any other error costs this call
// alone, unless it says that the model is [llm.Unavailable] or that the journal failed. The run then ends
// after the step, whatever Step returns.
//
// A step that has seen a fault which ends the run drains: what it asks for from then on is refused, with an error that
// wraps the fault. A resumed run makes the step again as a whole, and would ask for something else.
func (t *Turn) Ask(ctx context.Context, kind string, l llm.LLM, req llm.Request) (llm.Reply, error) {
	return t.askOnce(ctx, purpose{kind: kind}, l, req)
}

// askOnce is ask, and ends the run after too many failures in a row.
func (t *Turn) askOnce(ctx context.Context, p purpose, l llm.LLM, req llm.Request) (llm.Reply, error) {
	reply, err := t.ask(ctx, p, l, req)
	if t.recording() && !reply.recalled {
		if bad := t.failing.note(reply.Reply, err, mostFailures); bad != nil {
			// Noted in the step as well as returned: a search that ignores errors is the one that this is for.
			t.end(bad)
			return reply.Reply, bad
		}
	}
	return reply.Reply, err
}

// mostFailures is how many calls in a row may fail in a search that does not count its failures itself, as a
// Breeder does. Failed calls do not count in Budget.Calls. Without this bound a search that goes on after each
// error would ask a dead endpoint for ever.
const mostFailures = 256

// A purpose is what a call is for.
type purpose struct {
	kind   string
	bred   bool   // a Breeder asks, whose search goes on if the call fails: the failure costs one child
	within *asked // the evaluation that asks, or the call whose model does; nil for none
}

// An answer is how a call ended.
type answer struct {
	llm.Reply
	id journal.ID // of the call in the journal, if there is one
	// recalled says that it came from the journal: a failure that is recalled must not count against an endpoint that
	// may be back.
	recalled bool
}

// ask is Ask without the count of failures in a row, which a Breeder keeps itself.
func (t *Turn) ask(ctx context.Context, p purpose, l llm.LLM, req llm.Request) (a answer, err error) {
	if !t.recording() {
		a.Reply, err = l.Generate(ctx, req)
		return a, err
	}
	if err := t.doomed(); err != nil {
		t.noteError(err)
		return a, err
	}
	asker, inner := l.(innerModel)
	if inner {
		l, p.within = asker.LLM, asker.asks
	}
	// This order is the contract. A call that is in the file is not sent again. A call that the budget has no
	// room for is not sent. No reply is acted on before it is on disk. What was spent is booked however the
	// call ended, which is why settle stands behind no condition.
	c := t.newCall(p, req)
	c.inner = inner
	reply, recalled, err := c.recall(ctx)
	if err == nil && !recalled {
		end := t.unheard.begin(p)
		reply, err = c.send(ctx, l)
		reply, err = c.keep(ctx, reply, end(reply, err))
	} else {
		t.unheard.hear(reply)
	}
	c.settle(reply, err)
	calls := c.asks.made()
	if len(reply.Attempts) > 0 {
		calls = append(calls, Call{p.kind, reply.Attempts})
	}
	if p.within != nil {
		p.within.add(c, calls)
	} else {
		t.noteCalls(calls)
	}
	t.noteError(err)
	if p.within == nil { // of a recalled call too, as whoever counts has to count the same when a run is resumed
		llm.TraceOf(ctx).Ended(reply.Attempts)
	}
	return answer{reply, c.id, recalled}, err
}

// Evaluate scores program with e. Sample numbers independent evaluations of one program. The same program and
// sample are evaluated once in a run, so ask a deterministic evaluator always for sample 0, and a noisy one
// for 0, 1, 2, ... Programs are the same if their texts are, up to white space at the end.
//
// A bad program is a result that is not valid. An error for which [Refused] is true means that the budget has
// no room, or that the step drains (see [Turn.Ask]). Where e fails because a call that it makes through [llm.Ask] failed,
// the error costs this evaluation alone, and [Lost] is true for it; after 32 in a row the run ends. Any other error means that the evaluation was given up, or that
// evaluation itself failed, which ends the run after the step.
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
	if err == nil || !unscorable(err) {
		r, err = t.programs.evaluate(ctx, t, e, program, sample)
	}
	t.noteError(err)
	return r, err
}

// evaluateParts scores program with the parts of c.
//
// Where the budget refuses one part, the others are begun all the same. The journal holds each part's result or
// refusal, and a run that is made again must not ask for a part that was not begun then. After any other error the run
// ends, and what was not begun is made when it goes on.
func (t *Turn) evaluateParts(ctx context.Context, c eval.Composite, program string, sample int) (r eval.Result, err error) {
	part := func(e eval.Evaluator) (eval.Result, error) { return t.score(ctx, e, program, 0) }
	refused := func(err error) bool {
		limit, refused := Refused(err)
		return refused && limit != ""
	}
	if bad := guard("the evaluator's Parts or Join", func() { r, err = eval.ComposeBy(c, program, sample, part, refused) }); bad != nil {
		err = bad
	}
	var evaluation *evaluationError
	if err != nil && ctx.Err() == nil && !errors.As(err, &evaluation) && !fatal(err) && !Lost(err) {
		if _, refused := Refused(err); !refused {
			err = &evaluationError{err} // of Parts or Join
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

// timed returns how long a Breed of the step took as the journal keeps it: in whole milliseconds, and what the file
// holds if the step's end is in it.
func (t *Turn) timed(took time.Duration) time.Duration {
	took = took.Truncate(time.Millisecond)
	if !t.recording() {
		return took
	}
	t.mu.Lock()
	if i := len(t.took); t.past.Ended && i < len(t.past.Bred) {
		took = t.past.Bred[i]
	}
	t.mu.Unlock()
	for p := t.step; p != nil; p = p.parent {
		p.mu.Lock()
		p.took = append(p.took, took)
		p.mu.Unlock()
	}
	return took
}

// noteCalls keeps calls for the result.
func (s *step) noteCalls(calls []Call) {
	for p := s; p != nil && len(calls) > 0; p = p.parent {
		p.mu.Lock()
		p.made = append(p.made, calls...)
		p.mu.Unlock()
	}
}

// noteJudged counts a call that a program waits for on its way to its evaluation, if it was answered.
func (s *step) noteJudged(attempts []llm.Attempt) {
	for p := s; p != nil && answered(attempts); p = p.parent {
		p.mu.Lock()
		p.judged++
		p.mu.Unlock()
	}
}

// noteScored notes that an evaluation brought a result. Two steps that are made at once may ask for the same
// evaluation, and which of them makes it is chance. So both note it, and the account counts it for the one
// whose outcome is taken in first.
func (s *step) noteScored(e scoring) {
	for p := s; p != nil; p = p.parent {
		p.mu.Lock()
		p.scored = append(p.scored, e)
		p.mu.Unlock()
	}
}

// noteError keeps what err means for the step, whether its arm returns it or not.
//
// If the end of the pull is in the journal, the step went on after this error when it first came, and so it
// does now. There only an error that shows that the run is another one, or that the journal cannot be written,
// ends the step.
func (s *step) noteError(err error) {
	if err == nil {
		return
	}
	limit, refused := Refused(err)
	for p := s; p != nil; p = p.parent {
		p.mu.Lock()
		switch {
		case journalFailed(err):
			p.fatal = cmp.Or(p.fatal, err)
		case refused && limit != "":
			if p.limit == "" || limit < p.limit {
				p.limit = limit
			}
		case s.past.Ended: // it went on then
		case s.over(), refused:
			p.cut = true
		case fatal(err) && p.fatal == nil:
			p.fatal = err
		}
		p.doom = cmp.Or(p.doom, p.fatal)
		p.mu.Unlock()
	}
}

// drain makes the step ask for nothing new because of err. Unlike end it leaves to the arm whether the run ends.
func (s *step) drain(err error) {
	for p := s; p != nil; p = p.parent {
		p.mu.Lock()
		p.doom = cmp.Or(p.doom, err)
		p.mu.Unlock()
	}
}

// doomed returns the error of what a step asks for once it has seen a fault, or nil. A step whose end is in the journal
// went on, and fresh samples are taken of a run that is over: neither is made again.
func (s *step) doomed() error {
	if s.past.Ended || s.claiming {
		return nil
	}
	for p := s; p != nil; p = p.parent {
		p.mu.Lock()
		doom := p.doom
		p.mu.Unlock()
		if doom != nil {
			return &doomedError{doom}
		}
	}
	return nil
}

// A doomedError refuses what a step asks for after a fault. It unwraps to the fault, and counts as llm.ErrDraining.
type doomedError struct{ fault error }

func (e *doomedError) Error() string {
	return fmt.Sprintf("evolve: the step asks for nothing more, because it is made again as a whole after: %v", e.fault)
}
func (e *doomedError) Unwrap() error        { return e.fault }
func (e *doomedError) Is(target error) bool { return target == llm.ErrDraining }

// unscorable reports whether err says that no program can be scored any more, or no score kept.
func unscorable(err error) bool {
	var evaluation *evaluationError
	return journalFailed(err) || errors.As(err, &evaluation)
}

// end makes the run end after the step. It does not cancel the calls that are under way, because they are paid
// for.
func (s *step) end(err error) {
	for p := s; p != nil; p = p.parent {
		p.mu.Lock()
		p.fatal = cmp.Or(p.fatal, err)
		p.doom = cmp.Or(p.doom, err)
		p.mu.Unlock()
	}
}

// fatal reports whether err is more than the failure of one call, so that the run cannot go on: the model or
// the evaluator is gone, no call was ever answered, the journal cannot be written or tells of another run, or
// code panicked. To go on would spend the budget on nothing, or on what cannot be kept.
func fatal(err error) bool {
	var panicked *PanicError
	var evaluation *evaluationError
	var unheard *unheardError
	return llm.Unavailable(err) || journalFailed(err) || errors.As(err, &panicked) ||
		errors.As(err, &evaluation) || errors.As(err, &unheard)
}

// journalFailed reports whether err says that the journal cannot be written or tells of another run.
func journalFailed(err error) bool {
	return errors.Is(err, journal.ErrWrite) || errors.Is(err, journal.ErrDiverged)
}

// Refused reports whether err says that a call or an evaluation was not made. limit is the field of the Budget
// that has no room for it, or "" if the run is coming to an end.
func Refused(err error) (limit string, refused bool) {
	var r *refusedError
	var doomed *doomedError // whatever the fault was, what it keeps back is asked for when the run goes on
	if !errors.As(err, &doomed) && errors.As(err, &r) {
		return r.limit, true
	}
	return "", errors.Is(err, llm.ErrDraining)
}

// A streak counts the calls in a row that failed, among those made in this incarnation of the run. Calls that
// the journal recalls do not count. If they did, the streak that ended one incarnation would end each one after
// it, although the endpoint is back. It is safe for concurrent use.
type streak struct {
	mu sync.Mutex
	n  int
}

// note counts a call. It returns an error when most calls in a row have failed. A call that was never sent does
// not count. A timeout neither counts nor ends the streak: Budget.Stalls limits timeouts.
func (s *streak) note(reply llm.Reply, err error, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch last := len(reply.Attempts) - 1; {
	case last < 0:
	case reply.Attempts[last].Status == llm.Failed:
		s.n++
	case reply.Attempts[last].Status == llm.OK:
		s.n = 0
	}
	if s.n < most || err == nil {
		return nil
	}
	return fmt.Errorf("evolve: %d model calls in a row failed, the last with: %w", s.n, err)
}
