package evolve

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// An outcome is what a pull brought, as its step ended.
type outcome struct {
	step.Account
	pull pull
	gen  Generation
	err  error
}

// A pull is a step that is being made.
type pull struct {
	bandit.Pull
	round int // its place in Result.Rounds
	most  int // children that it was granted
	past  record.Past
	// beside is how many tune evaluations the other arms have made.
	beside  int
	lessons []lesson // of the steps that were over when it was drawn
}

// closed corrects what an arm returned by what happened in its step, and returns the account of that. Calls that the
// arm left out are added to the asides. A limit that bound is named. An error that the arm kept to itself ends the
// run.
//
// A step that was cut short must not be reported as whole. Its reward would stand in the journal. Made again
// without the interruption, the step would ask for more than the file holds, and what was paid for would be
// stuck behind ErrDiverged.
func closed(s *step.Step, gen Generation, err error) (Generation, step.Account, error) {
	a := s.Account()
	gen = withCalls(gen, callsOf(a.Calls))
	var refused *step.Refused
	if errors.As(err, &refused) { // that the budget has no room limits the step, and is not an error
		gen.Limit, err = cmp.Or(gen.Limit, refused.Limit), nil
	}
	gen.Limit = cmp.Or(gen.Limit, a.Limit)
	err = ended(a, err)
	// An arm that looks at its context may have stopped early without asking for anything more. Whether it did
	// cannot be known. If the step was whole all the same, to make it again costs nothing, as all of its answers
	// are in the journal.
	if err == nil && (a.Cut || s.Over() && !s.Past.Ended) {
		err = errCut
	}
	gen.Partial = gen.Partial || err != nil
	return gen, a, err
}

// started returns what an arm asked for in its Start, and the limit that left no room for more. Nothing of it is
// reported, so it matters only how it ended and not whether it is whole.
func started(a step.Account, err error) (Generation, error) {
	spent := Generation{Asides: callsOf(a.Calls), Limit: a.Limit}
	var refused *step.Refused
	if errors.As(err, &refused) {
		spent.Limit, err = cmp.Or(spent.Limit, refused.Limit), nil
	}
	return spent, ended(a, err)
}

// ended returns the error with which the step ended: its arm's, or one that the arm kept to itself. That the
// journal failed counts before what the arm made of it, which may look like the end of the run. So does a fault before
// what was refused because of it.
func ended(a step.Account, err error) error {
	var doomed *step.Doomed
	if err == nil || step.OfJournal(a.Fatal) || errors.As(err, &doomed) {
		return cmp.Or(a.Fatal, err)
	}
	return err
}

// errCut is the error of a step in which something was abandoned although its arm returned none.
var errCut = fmt.Errorf("evolve: the step was cut short: %w", llm.ErrDraining)

// withCalls returns gen with every call that was made. Those that the arm left out become asides.
func withCalls(gen Generation, made []Call) Generation {
	children := make([][]llm.Attempt, len(gen.Children))
	for i, c := range gen.Children {
		children[i] = c.Attempts
	}
	gen.Asides = append(gen.Asides, missingCalls(children, gen.Asides, made)...)
	for i, attempts := range children {
		if len(attempts) < len(gen.Children[i].Attempts) { // the call of an aside was taken out
			gen.Children[i].Attempts = attempts
		}
	}
	return gen
}

// shared is what the steps of a run share, and how they tell of children.
type shared struct {
	*step.Run
	births   chan Event    // of children that were taken in, for the goroutine of Run
	gone     chan struct{} // closed when nobody receives births: an arm's goroutine may outlive its step, and the run
	budget   Budget
	lessons  []lesson     // in the order in which steps were taken in; the goroutine of Run appends
	ledgerAt atomic.Int64 // when a child's record had the ledger last, in milliseconds since 1970
}

// A birth is what readers of the journal and the observer are told of a child.
type birth struct {
	child Child
	step  int       // of its search, from 1
	call  record.ID // of the call that made it; zero if there was none, or it is not known
	err   error     // what more than its own failure ended it
	lost  bool      // a failed call cost it its evaluation
}

// tell tells what became of a child of the step, once. A Breeder does so when it has taken the child in, and the run
// does for the children of an arm that is not a Breeder.
func (t *Turn) tell(b birth) error {
	s := t.step
	s.Tell(b.child.address())
	if b.child.HasProgram() {
		b.child.Hash = record.KeyOf(b.child.Program).String()
	}
	err := t.shared.record(s.Pull, s.Past, b)
	if s.Pull >= 0 {
		select {
		case t.shared.births <- b.event(s.Pull):
		case <-t.shared.gone:
		}
	}
	return err
}

// event returns what the observer is told. The search goes on meanwhile, and may change the maps of its child's result.
func (b birth) event(pull int) Event {
	c := b.child
	c.Result = c.Result.Clone()
	return Event{Kind: EventChild, Pull: bandit.Pull{ID: pull}, Generation: Generation{Index: b.step}, Child: c}
}

// record writes the child's record, for readers of the journal. Replay takes only what a reply was read as from these
// records, so fields can be added to them and older journals still fit. A pull whose end is in the file has its records.
func (s *shared) record(pull int, past record.Past, b birth) error {
	if s.Journal == nil || past.Ended || s.Journal.Finished() {
		return nil
	}
	c := b.child
	r := record.Record{Kind: record.Child, Pull: &pull, Child: &c.Index, Step: b.step, Ledger: s.spentNow(),
		Proposal: c.Proposal()}
	if !c.Scored() {
		r.State = b.unscored()
	}
	r.Limit, _ = Refused(b.err)
	if b.call != (record.ID{}) {
		r.Key, r.N = b.call.String(), b.call.N
	}
	if c.HasProgram() { // the file has the text if it was evaluated, and then perhaps with other space at its end
		var err error
		if r.Program, err = s.Journal.WriteProgram(c.Program); err != nil {
			return err
		}
	}
	return s.Journal.Tell(r)
}

// spentNow returns the ledger for a child's record, and nil if a child had one in the last second: readers add calls
// and evaluations up themselves, and see what is set aside often enough.
func (s *shared) spentNow() *books.Ledger {
	now := time.Now().UnixMilli()
	if last := s.ledgerAt.Load(); now-last < 1000 || !s.ledgerAt.CompareAndSwap(last, now) {
		return nil
	}
	l := s.Ledger.Record()
	return &l
}

// unscored returns what became of a child that has neither a score nor a reason from its evaluation.
func (b birth) unscored() books.State {
	limit, _ := Refused(b.err)
	switch {
	case limit != "":
		return books.StateRefused
	case b.err != nil:
		return books.StateAbandoned
	case b.lost:
		return books.StateFailed
	}
	return b.child.state()
}
