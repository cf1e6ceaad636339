package evolve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/calls"
	"github.com/evoalloc/evoalloc/evolve/internal/fault"
	"github.com/evoalloc/evoalloc/evolve/internal/ledger"
	"github.com/evoalloc/evoalloc/evolve/internal/memory"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/waits"
	"github.com/evoalloc/evoalloc/llm"
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
	past    record.Past
	over    func() bool   // reports whether the run has given its steps up: the grace period or the wall time is over
	parent  *step         // the allocator's, nil for none
	search  string        // which of the allocator's arms it is of, by place; "" for none
	failing *calls.Streak // of the arm

	mu     sync.Mutex       // an arm may ask from several goroutines
	made   []Call           // in the order they ended
	scored []memory.Scoring // evaluations that brought a result, made or remembered
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

	// Of a session, whose step is within that of its child:
	child   int          // its ID
	session string       // what its calls are named by in the journal; "" for no session
	asked   memory.Asked // its calls
	// effects are the evaluations that it asked for, in the order in which they ended.
	effects []record.Scored
}

// shared is what all steps of a run share. A limit, a journal and a memory of programs have to be those of the
// whole run: several steps are made at once, and together they must stay within one budget.
type shared struct {
	budget   Budget
	ledger   *ledger.Ledger
	ledgerAt atomic.Int64    // when a child's record had the ledger last, in milliseconds since 1970
	journal  *record.Journal // nil for none
	programs *memory.Programs
	lost     atomic.Int64 // evaluations in a row that a failed call cost
	arrears  arrears
	silence  calls.Silence
	queued   waits.Count   // calls that wait for a place
	births   chan Event    // of children that were taken in, for the goroutine of Run
	gone     chan struct{} // closed when nobody receives births: an arm's goroutine may outlive its step, and the run
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
	if s := in.step; s != nil {
		in.step = s.inside(strings.TrimPrefix(fmt.Sprintf("%s.%d", s.search, arm), "."))
	}
	return in
}

// inside returns a step that keeps accounts of its own, of which s is told too.
func (s *step) inside(search string) *step {
	return &step{shared: s.shared, pull: s.pull, past: s.past, over: s.over, parent: s, search: search,
		failing: s.failing, beside: s.beside}
}

// recording reports whether t belongs to a run.
func (t *Turn) recording() bool { return t != nil && t.step != nil }

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
func (s *step) noteScored(e memory.Scoring) {
	s.noteEffect(record.Scored{Key: hexadecimal(e.Of), Tuned: e.Tuned, Apart: e.Of != e.Key})
	for p := s; p != nil; p = p.parent {
		p.mu.Lock()
		p.scored = append(p.scored, e)
		p.mu.Unlock()
	}
}

// noteEffect keeps an evaluation for the record of a session.
func (s *step) noteEffect(e record.Scored) {
	if s.session == "" {
		return
	}
	s.mu.Lock()
	s.effects = append(s.effects, e)
	s.mu.Unlock()
}

// noteUnscored keeps that an evaluation of a session brought no result, because the budget had no room or a failed call
// cost it. A journal counts that it was asked for.
func (s *step) noteUnscored(of record.Key, err error) {
	if limit, _ := Refused(err); limit != "" || Lost(err) {
		s.noteEffect(record.Scored{Key: hexadecimal(of), None: true})
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
		case fault.OfJournal(err):
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
			return &fault.Doomed{Fault: doom}
		}
	}
	return nil
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

// arrears are what a journal holds of pulls that a kill or a pause cut short, and what their steps have not asked for
// yet. It was paid for, so it has to be in the accounts before the first new call is admitted. Steps that are
// under way at once ask for it in any order. If it were booked only then, a step that is quick could send a call
// into the room that the answer of a slower one takes, and the run would pass its budget.
type arrears struct {
	sync.RWMutex      // read-locked while something is recalled and booked; locked while the rest is booked
	counted      bool // the rest is booked, so what is recalled from now on must not be booked again
}

// awaitLive waits until every decision of earlier incarnations is made again. If replay diverges before that,
// the run is another one, and must not have paid for anything. In a run that is over nothing more is asked for:
// its result is final, and a call without an answer was given up when the run stopped.
func (s *step) awaitLive(ctx context.Context) error {
	select {
	case <-s.journal.Live():
		switch {
		case s.journal.Finished() && !s.claiming:
			return fmt.Errorf("evolve: journal %s tells of a run that is over: %w", s.journal.Path(), llm.ErrDraining)
		case s.journal.Err() != nil:
			return s.journal.Err()
		}
		return s.bookArrears()
	case <-ctx.Done():
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	}
}

// freshSample is what the journal says a fresh sample is for.
const freshSample = "claim"

// bookArrears books what the journal holds and no step has asked for yet. Only the first call does anything: the
// file gets no more of it.
func (s *shared) bookArrears() error {
	s.arrears.Lock()
	defer s.arrears.Unlock()
	if s.arrears.counted {
		return nil
	}
	records, err := s.journal.Owed()
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.For == freshSample { // of an earlier stop; the run that goes on has not spent them
			continue
		}
		switch r.Kind {
		case record.Evaluation, record.Tuning:
			s.bookScored(&r)
		default:
			s.ledger.Book(ledger.Size{Prompt: r.Prompt}, r.Reply.Attempts)
		}
	}
	s.arrears.counted = true
	return nil
}

// bookRecalled books a call that comes from the journal. The caller has read-locked arrears since before it recalled
// the call.
func (s *shared) bookRecalled(req ledger.Size, attempts []llm.Attempt) {
	if !s.arrears.counted {
		s.ledger.Book(req, attempts)
	}
}
