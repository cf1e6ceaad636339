package evolve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/fault"
	"github.com/evoalloc/evoalloc/evolve/internal/memory"
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

// close completes what an arm's Step returned from what was noted of the step. The arm says which children it made and
// which candidate is the best. Which calls were made, which limit bound and which error ends the run does not depend on
// what the arm tells.
//
// A step that was cut short must not be reported as whole. Its reward would stand in the journal. Made again
// without the interruption, the step would ask for more than the file holds, and what was paid for would be
// stuck behind ErrDiverged.
func (o *outcome) close(s *step.Step) {
	o.Account = s.Account()
	o.gen.Asides = asides(o.gen.Children, o.Calls)
	o.gen.Limit, o.err = ended(o.Account, o.gen.Limit, o.err)
	// An arm that looks at its context may have stopped early without asking for anything more. Whether it did
	// cannot be known. If the step was whole all the same, to make it again costs nothing, as all of its answers
	// are in the journal.
	if o.err == nil && (o.Cut || s.Over() && !s.Past.Ended) {
		o.err = errCut
	}
	o.gen.Partial = o.gen.Partial || o.err != nil
}

// ended returns the limit that bound in a step, and the error that ends the run: the arm's, or one that the arm kept to
// itself. That the journal failed counts before what the arm made of it, which may look like the end of the run. So does
// a fault before what was refused because of it. That the budget has no room limits the step, and is not an error.
func ended(a step.Account, limit string, err error) (string, error) {
	var refused *fault.Refused
	if errors.As(err, &refused) {
		limit, err = cmp.Or(limit, refused.Limit), nil
	}
	var doomed *fault.Doomed
	if err == nil || fault.OfJournal(a.Fatal) || errors.As(err, &doomed) {
		err = cmp.Or(a.Fatal, err)
	}
	return cmp.Or(limit, a.Limit), err
}

// errCut is the error of a step in which something was abandoned although its arm returned none.
var errCut = fmt.Errorf("evolve: the step was cut short: %w", llm.ErrDraining)

// asides returns the calls of a step that are not its children's, in an order that does not depend on which ended first.
// A call is a child's if the child holds the Attempts of its reply, the slice and not an equal one. Attempts that no
// call of the step returned are taken from the child. So each call counts once, whatever the arm returns.
func asides(children []Child, made []memory.Call) []Call {
	of := make(map[*llm.Attempt][]llm.Attempt, len(made))
	for _, c := range made {
		of[&c.Attempts[0]] = c.Attempts
	}
	for i := range children {
		if c := &children[i]; c.Asked() {
			first := &c.Attempts[0]
			c.Attempts = of[first]
			delete(of, first)
		}
	}
	var list []Call
	for _, c := range made {
		if of[&c.Attempts[0]] != nil {
			list = append(list, Call(c))
		}
	}
	// Which of two calls that are made at once ends first is chance, and another one in a resumed run, whose result
	// has to be the same.
	slices.SortStableFunc(list, compareCalls)
	return list
}

// compareCalls orders calls by the child and by what they were for and what they cost, but for the time that they took.
func compareCalls(a, b Call) int {
	return cmp.Or(cmp.Compare(a.Child, b.Child), cmp.Compare(a.Kind, b.Kind),
		slices.CompareFunc(a.Attempts, b.Attempts, compareAttempts))
}

func compareAttempts(a, b llm.Attempt) int {
	var x, y llm.Usage
	if a.Usage != nil {
		x = *a.Usage
	}
	if b.Usage != nil {
		y = *b.Usage
	}
	return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Model, b.Model),
		cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(x.PromptTokens, y.PromptTokens),
		cmp.Compare(x.CompletionTokens, y.CompletionTokens), cmp.Compare(x.CachedTokens, y.CachedTokens),
		cmp.Compare(a.Streamed, b.Streamed), cmp.Compare(a.FinishReason, b.FinishReason), cmp.Compare(a.Err, b.Err))
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
		case t.shared.births <- b.event(t.pull):
		case <-t.shared.gone:
		}
	}
	return err
}

// event returns what the observer is told. The search goes on meanwhile, and may change the maps of its child's result.
func (b birth) event(pull bandit.Pull) Event {
	c := b.child
	c.Result = c.Result.Clone()
	return Event{Kind: EventChild, Pull: pull, Generation: Generation{Index: b.step}, Child: c}
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
