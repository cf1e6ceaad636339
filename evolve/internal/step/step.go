// Package step does what a step of a run asks of models and evaluators: it recalls it, or else admits it, makes it,
// records it and books it, and notes what happened. It is the inside of evolve's Turn and Work, and knows neither
// arms nor policies.
package step

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A Run is what all steps of a run share. A limit, a journal and a memory of programs have to be those of the whole
// run: several steps are made at once, and together they must stay within one budget.
type Run struct {
	// Limits of the run's budget that are kept here; the Ledger has the others.
	EvalTime, EvalWorst time.Duration
	TuneEvaluations     int

	Ledger   *Ledger
	Journal  *record.Journal // nil for none
	Programs *Programs
	Queued   Count // calls that wait for a slot

	lost    atomic.Int64 // evaluations in a row that a failed call cost
	arrears arrears
	silence Silence
}

// A Step is what happened in one step of a run. Where it differs from what the arm returns, the run believes the
// Step. An arm that forgets a call would make the accounts wrong. One that keeps an error to itself would spend the
// budget on an evaluator that is gone. One that returns normally although the run was called off would leave a
// journal that nothing can replay.
//
// The step of a session is part of its child's step, so what happens in it is noted in both.
//
// A nil Step limits, records and notes nothing. A Step is safe for concurrent use.
type Step struct {
	*Run
	Pull     int // its number; -1 before the first
	Past     record.Past
	Over     func() bool // reports whether the run has given its steps up: the grace period or the wall time is over
	Failing  *Streak     // of the arm
	Beside   int         // tune evaluations that other arms of the run had made when the step began
	Claiming bool        // whether it takes fresh samples of a run that is over

	// Of a session, whose step is within that of its child:
	parent  *Step  // nil for no session
	child   int    // its ID
	session string // what its calls are named by in the journal; "" for no session
	grant   *Grant

	mu      sync.Mutex // of what follows: an arm may ask from several goroutines
	account Account
	// doom is the fault after which the step asks for nothing new, because it is made again as a whole:
	// Account.Fatal, or what ended a Breeder's search.
	doom    error
	asked   []record.Asked  // the session's calls
	effects []record.Scored // the evaluations that it asked for, in the order in which they ended
}

// An Account is what is noted of a step.
type Account struct {
	Calls  []Call       // in the order in which they ended
	Scored []Evaluation // evaluations that brought a result, made or remembered
	Judged int          // calls that were answered while programs waited for their evaluation
	Idle   int          // children whose Prepare had nothing to ask for
	// Took holds how long each Breed of the step took, in order. A Breadth decides by these times, so the journal
	// keeps them as they were measured.
	Took []time.Duration
	Told map[Address]bool // children that readers of the journal and the observer were told of
	// Limit is the field of the budget that left no room for something. Of several it is the first by name and not by
	// time: which call was refused first is chance, and replay has to name the same one.
	Limit string
	Cut   bool  // something in it was abandoned
	Fatal error // after which the run cannot go on
}

// An Address tells the children of a step apart.
type Address struct{ Index, ID int }

// A Call is a model call that was made for something beside a child.
type Call struct {
	Kind     string
	Child    int // whose session made it; 0 for none
	Attempts []llm.Attempt
}

// Account returns what is noted until now. A goroutine that the arm left behind may go on with the step.
func (s *Step) Account() Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account
	a.Told = maps.Clone(a.Told)
	return a
}

// inside returns the step of the session of a child. It keeps accounts of its own, of which s is told too.
func (s *Step) inside(child int) *Step {
	return &Step{Run: s.Run, Pull: s.Pull, Past: s.Past, Over: s.Over, Failing: s.Failing, Beside: s.Beside,
		parent: s, child: child}
}

// each calls f with s and the steps that it is within, each under its lock.
func (s *Step) each(f func(p *Step)) {
	for p := s; p != nil; p = p.parent {
		p.mu.Lock()
		f(p)
		p.mu.Unlock()
	}
}

// Timed returns how long a Breed of the step took as the journal keeps it: in whole milliseconds, and what the file
// holds if the step's end is in it.
func (s *Step) Timed(took time.Duration) time.Duration {
	took = took.Truncate(time.Millisecond)
	if s == nil {
		return took
	}
	if i := len(s.Account().Took); s.Past.Ended && i < len(s.Past.Bred) {
		took = s.Past.Bred[i]
	}
	s.each(func(p *Step) { p.account.Took = append(p.account.Took, took) })
	return took
}

// Tell notes that a child is told of.
func (s *Step) Tell(child Address) {
	s.each(func(p *Step) {
		if p.account.Told == nil {
			p.account.Told = make(map[Address]bool)
		}
		p.account.Told[child] = true
	})
}

// Judged counts a call that a program waits for on its way to its evaluation, if it was answered.
func (s *Step) Judged(attempts []llm.Attempt) {
	if Answered(attempts) {
		s.each(func(p *Step) { p.account.Judged++ })
	}
}

// Idled counts a child whose Prepare had nothing to ask for: what that asked is among the judged calls.
func (s *Step) Idled() { s.each(func(p *Step) { p.account.Idle++ }) }

// noteCalls keeps calls for the result, without those that were never sent.
func (s *Step) noteCalls(made ...Call) {
	for _, c := range made {
		if len(c.Attempts) > 0 {
			s.each(func(p *Step) { p.account.Calls = append(p.account.Calls, c) })
		}
	}
}

// noteScored notes that an evaluation brought a result. Two steps that are made at once may ask for the same
// evaluation, and which of them makes it is chance. So both note it, and the account counts it for the one whose
// outcome is taken in first.
func (s *Step) noteScored(e Evaluation) {
	s.noteEffect(record.Scored{Key: hexadecimal(e.Of), Tuned: e.Tuned, Apart: e.Of != e.Key})
	s.each(func(p *Step) { p.account.Scored = append(p.account.Scored, e) })
}

// noteEffect keeps an evaluation for the record of a session.
func (s *Step) noteEffect(e record.Scored) {
	if s.session != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.effects = append(s.effects, e)
	}
}

// noteError keeps what err means for the step, whether its arm returns it or not.
//
// If the end of the pull is in the journal, the step went on after this error when it first came, and so it does now.
// There only an error that shows that the run is another one, or that the journal cannot be written, ends the step.
func (s *Step) noteError(err error) {
	if err == nil {
		return
	}
	limit, refused := Refusal(err)
	s.each(func(p *Step) {
		a := &p.account
		switch {
		case OfJournal(err):
			a.Fatal = cmp.Or(a.Fatal, err)
		case refused && limit != "":
			if a.Limit == "" || limit < a.Limit {
				a.Limit = limit
			}
		case s.Past.Ended: // it went on then
		case s.Over(), refused:
			a.Cut = true
		case Fatal(err):
			a.Fatal = cmp.Or(a.Fatal, err)
		}
		p.doom = cmp.Or(p.doom, a.Fatal)
	})
}

// Drain makes the step ask for nothing new because of err. Unlike end it leaves to the arm whether the run ends.
func (s *Step) Drain(err error) {
	s.each(func(p *Step) { p.doom = cmp.Or(p.doom, err) })
}

// end makes the run end after the step. It does not cancel the calls that are under way, because they are paid for.
func (s *Step) end(err error) {
	s.each(func(p *Step) { p.account.Fatal = cmp.Or(p.account.Fatal, err) })
	s.Drain(err)
}

// doomed returns the error of what a step asks for once it has seen a fault, or nil. A step whose end is in the
// journal went on, and fresh samples are taken of a run that is over: neither is made again.
func (s *Step) doomed() error {
	if s.Past.Ended || s.Claiming {
		return nil
	}
	var doom error
	if s.each(func(p *Step) { doom = cmp.Or(doom, p.doom) }); doom == nil {
		return nil
	}
	return &Doomed{Fault: doom}
}

// arrears are what a journal holds of pulls that a kill or a pause cut short, and what their steps have not asked for
// yet. It was paid for, so it has to be in the accounts before the first new call is admitted. Steps that are under
// way at once ask for it in any order. If it were booked only then, a step that is quick could send a call into the
// room that the answer of a slower one takes, and the run would pass its budget.
type arrears struct {
	sync.RWMutex      // read-locked while something is recalled and booked; locked while the rest is booked
	counted      bool // the rest is booked, so what is recalled from now on must not be booked again
}

// awaitLive waits until every decision of earlier incarnations is made again. If replay diverges before that, the run
// is another one, and must not have paid for anything. In a run that is over nothing more is asked for: its result is
// final, and a call without an answer was abandoned when the run stopped.
func (s *Step) awaitLive(ctx context.Context) error {
	select {
	case <-s.Journal.Live():
	case <-ctx.Done():
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	}
	if s.Journal.Finished() && !s.Claiming {
		return fmt.Errorf("evolve: journal %s holds a run that is over: %w", s.Journal.Path(), llm.ErrDraining)
	}
	return cmp.Or(s.Journal.Err(), s.bookArrears())
}

// freshSample is what the journal says a fresh sample is for.
const freshSample = "claim"

// bookArrears books what the journal holds and no step has asked for yet. Only the first call does anything: the file
// gets no more of it.
func (r *Run) bookArrears() error {
	r.arrears.Lock()
	defer r.arrears.Unlock()
	if r.arrears.counted {
		return nil
	}
	records, err := r.Journal.Owed()
	if err != nil {
		return err
	}
	for _, paid := range records {
		switch {
		case paid.For == freshSample: // of an earlier stop; the run that goes on has not spent them
		case paid.Result != nil:
			r.bookScored(&paid)
		default:
			r.Ledger.Book(Size{Prompt: paid.Prompt}, paid.Reply.Attempts)
		}
	}
	r.arrears.counted = true
	return nil
}

// bookRecalled books a call that comes from the journal. The caller has read-locked arrears since before it recalled
// the call.
func (r *Run) bookRecalled(req Size, attempts []llm.Attempt) {
	if !r.arrears.counted {
		r.Ledger.Book(req, attempts)
	}
}
