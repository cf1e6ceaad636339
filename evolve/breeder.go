package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/calls"
	"github.com/evoalloc/evoalloc/evolve/internal/resample"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Brief says how one child is to be made. Brief{}.Of(parent) asks the Breeder's model for a rewrite of parent.
type Brief struct {
	// Ask is what the task's Prompt is given: the parents, with the one to be changed first, and the instruction.
	task.Ask
	// Messages are sent in place of Task.Prompt(Ask); nil means Task.Prompt(Ask).
	Messages []llm.Message
	// Parse reads the program out of a reply; nil means the task's own in Ask's Form, which may take a diff of the first
	// parent.
	Parse func(reply string) (string, error)
	// Make makes the child without a model, in place of a call: a merge, a tuning. nil means a call. It is
	// called on a goroutine of the child's own.
	Make func(context.Context) (string, error)
	// Admit is called before the child's evaluation is paid for. A why that is not "" refuses the program, which
	// costs this child alone. An error ends the search. nil admits all. It is called on a goroutine of the
	// child's own.
	Admit func(ctx context.Context, program string) (why string, err error)
	// LLM is asked in place of the Breeder's; nil means the Breeder's.
	LLM llm.LLM
	// Seed is the request's; 0 means that of the child's place ([ChildSeed] of seed 0, n, the step and the index).
	// Derive it from the search's seed and that place. Do not draw it: a draw depends on what was drawn before.
	Seed     uint32
	Parents  []int  // IDs, with the one that the child is made from first; the programs are in Ask.Parents
	Operator string // what makes the child, for the record; "" for a plain rewrite
	// Labels say how else the child is made, by kind, for the record: "island", "selector". A search may add to them
	// where the child stands ("cell"), until it has taken the child in. nil means none.
	Labels map[string]string
}

// Of returns b for a child of parents, the one to be changed first: their programs for the prompt, and their IDs
// for the record.
func (b Brief) Of(parents ...Child) Brief {
	b.Ask.Parents, b.Parents = nil, nil
	for _, p := range parents {
		b.Ask.Parents = append(b.Ask.Parents, p.Candidate)
		b.Parents = append(b.Parents, p.ID)
	}
	return b
}

// An Order says in which order a Breeder takes children in. The order decides which children the next brief
// knows of, and so what the search finds.
type Order int

// The orders.
const (
	// ByIndex takes children in by index, so that nothing depends on which ends first: the same replies give
	// the same result.
	ByIndex Order = iota
	// AsTheyEnd takes each child in when it ends. Which ended first then decides what is asked for next. A
	// journal records the order and repeats it.
	//
	// It keeps more calls under way than ByIndex with the same window, where one slow child holds the window
	// back. The price is a run that cannot be repeated from its seeds alone.
	AsTheyEnd
)

// String names the order.
func (o Order) String() string {
	if o == AsTheyEnd {
		return "AsTheyEnd"
	}
	return "ByIndex"
}

// A Breeder makes the children of a step. It is public because every search needs what it does. Searches
// written without it canceled calls that were paid for, ended by one bad reply, or spent their whole budget on
// an evaluator that was gone. It keeps every rule that a search has to keep:
//
//   - A bad reply, a failed call or a bad program costs one child.
//   - A child is scored as soon as its reply is parsed, while its siblings are still being written.
//   - When the search has to end, siblings in queues are not sent, and those on the wire are awaited, because
//     they are paid for. It has to end when the model is unavailable, the evaluator fails, code panics, or too
//     many calls in a row fail.
//   - A panic in a task, a model or a hook is an error.
//   - A model that learns ([llm.Learner]) is told what became of each child.
//
// A search that embeds a Breeder has all methods of an [Arm] and a [Starter] but Step. The Breeder evaluates
// the initial program, and knows the best child so far. One goroutine at a time calls it. Its fields must not
// be changed between steps.
type Breeder struct {
	Task task.Task // required
	LLM  llm.LLM   // required, unless every brief has a Make or an LLM
	// From is the initial program with its score; nil means that the task's initial program is evaluated before
	// the first step.
	From *eval.Candidate
	// Window is how many children are under way at once; 0 means all of the step. One step of many children
	// with a window is a steady-state search, because each child is briefed when another was taken in. With
	// ByIndex one slow child holds the window back until it ends. With AsTheyEnd a child whose call pauses before a
	// retry does not count, but never are as many as two windows under way.
	Window int
	Order  Order // ByIndex is the default
	// Noise says that the evaluator may score the same program differently, and what is done about it. nil means that
	// scores are exact: equal programs (but for white space at their end) are evaluated once in a run. The run sets
	// evaluations aside for programs that are scored again. The search that embeds the Breeder has them scored with
	// [Breeder.Rescore].
	Noise *Noise
	// MaxFailures is how many calls in a row may fail (not time out) before the search ends; 0 means twice the
	// children of a step, at least 32. Failed calls do not use up Budget.Calls, so an endpoint that fails every
	// call would keep the run busy for ever. Calls that a journal recalls do not count. A run of which no call was ever
	// answered ends sooner: after 6 failed attempts, once the calls under way have failed too.
	MaxFailures int
	// OnChild, if not nil, is called with each child as soon as it has ended, on the goroutine that calls
	// Breed.
	OnChild func(Child)

	started  bool
	initial  eval.Candidate
	best     eval.Candidate
	bestID   int    // its order of birth
	prior    Child  // the best when the last step began
	steps    int    // begun
	past     []Made // steps that ended whole
	width    width
	born     int                // children briefed
	widest   int                // the most children that were under way at once
	sampling *resample.Schedule // nil unless programs are scored again
	failing  calls.Streak       // over steps, as a step may be shorter than a streak
	failed   error              // what a brief or a take ended the search with
	err      error              // what ended the search
}

// A width is what a Breadth decided before the step after as many. A run asks every arm for its Calls before each draw,
// and the Breadth is asked once a step.
type width struct {
	asked bool
	steps int
	n     int
	err   error
}

var _ interface {
	Start(context.Context, *Turn) error
	Best() eval.Candidate
	Done() bool
} = (*Breeder)(nil)

// validate reports a field that is wrong. Start calls it, because a Breeder is embedded as a literal and has no
// constructor that could.
func (b *Breeder) validate() error {
	switch {
	case b.Task == nil:
		return errors.New("evolve: Breeder.Task is nil")
	case b.Window < 0:
		return fmt.Errorf("evolve: Breeder.Window is %d: need 0 for all children of a step, or more", b.Window)
	case b.MaxFailures < 0:
		return fmt.Errorf("evolve: Breeder.MaxFailures is %d: need 0 for the default, or more", b.MaxFailures)
	case b.Order != ByIndex && b.Order != AsTheyEnd:
		return fmt.Errorf("evolve: Breeder.Order is %d: need ByIndex or AsTheyEnd", b.Order)
	}
	_, err := b.Noise.WithDefaults()
	return err
}

// Best returns the best candidate so far: the initial program, not yet evaluated, before Start.
func (b *Breeder) Best() eval.Candidate {
	switch {
	case b.started:
		return b.best
	case b.From != nil:
		return *b.From
	case b.Task != nil:
		return eval.Candidate{Program: b.Task.Initial()}
	}
	return eval.Candidate{}
}

// Done reports whether an error ended the search.
func (b *Breeder) Done() bool { return b.err != nil }

// Steps returns how many steps were begun.
func (b *Breeder) Steps() int { return b.steps }

// Past returns what the steps made that ended, oldest first, for a [Breadth]. It must not be changed. A step that
// was cut short is not among them, because a resumed run makes it again.
func (b *Breeder) Past() []Made { return slices.Clip(b.past) }

// Width asks of, once a step, how many children the next step makes. An error says that of panicked, or that the number
// is not in 1..MaxN. A search asks it before Breed, and in the Calls of a [Sizer].
func (b *Breeder) Width(of Breadth) (int, error) {
	if !b.width.asked || b.width.steps != b.steps {
		n, err := widthOf(of, b.past)
		b.width = width{true, b.steps, n, err}
	}
	return b.width.n, b.width.err
}

// Start evaluates the initial program, unless it is already.
func (b *Breeder) Start(ctx context.Context, turn *Turn) error {
	if b.err == nil {
		b.err = b.validate()
	}
	if b.started || b.err != nil {
		return b.err
	}
	if b.From != nil {
		b.initial = *b.From
	} else if b.initial, b.err = start(ctx, turn, b.Task); b.err != nil {
		return b.err
	}
	b.best, b.started = b.initial, true
	if n := b.noise(); n != nil && n.Rescore >= 0 {
		b.sampling = resample.New(n.Rescore)
	}
	return nil
}

// Initial returns the initial program as the child with the ID 0, so that a search can use it as a parent like any
// other. Before Start it has no score.
func (b *Breeder) Initial() Child {
	if b.started {
		return Child{Candidate: b.initial}
	}
	return Child{Candidate: b.Best()}
}

// Breed makes n children, or fewer if turn grants fewer calls. brief is called for each child in order of
// index. take, if not nil, is called with each child that ended, in the Breeder's Order. It is called before the
// brief of the child that gets its place in the window. Both are called on the caller's goroutine, so a search
// is plain sequential code however many calls are in flight.
//
// The Generation has the children, and says why there are no more. Its Best is the best child so far by a
// single score, or the one that [Breeder.Lead] was called with last.
//
// An error is a fault of the infrastructure and ends the search: later calls return it again. To try again in
// the next step would ask an endpoint that is gone once a step until the budget ends.
func (b *Breeder) Breed(ctx context.Context, turn *Turn, n int, brief func(i int) Brief, take func(Child)) (Generation, error) {
	if err := b.Start(ctx, turn); err != nil {
		return Generation{Index: b.steps + 1, Before: b.Best(), Best: b.Best(), Partial: true}, err
	}
	b.steps++
	begin, before := time.Now(), b.best
	b.prior = Child{Candidate: b.best, ID: b.bestID}
	l := newBatch(b, turn, min(n, turn.Calls()))
	b.widest = max(b.widest, min(l.window(), l.n))
	if b.sampling != nil {
		b.sampling.Begin(l.n)
	}
	l.brief, l.take = brief, take
	l.breed(ctx)
	b.err = l.err
	gen := l.generation()
	gen.Before, gen.Best, gen.Elapsed = before, b.best, time.Since(begin)
	if elapsed := turn.timed(gen.Elapsed); b.err == nil {
		b.past = append(b.past, madeOf(gen, elapsed))
	}
	return gen, b.err
}

// madeOf returns what a Breadth sees of gen.
func madeOf(gen Generation, elapsed time.Duration) Made {
	m := Made{Children: len(gen.Children), Elapsed: elapsed}
	for _, c := range gen.Children {
		if c.Scored() && c.Better(gen.Before) {
			m.Better++
		}
	}
	return m
}

// takeIn keeps the best child so far. Ties keep the one that came first, so that by index the result does not
// depend on which of two equal children ended first.
func (b *Breeder) takeIn(c Child) {
	if b.sampling != nil {
		b.sampling.Child(c.Scored() && c.Result.Valid, c.Result.Score-b.best.Result.Score)
	}
	if c.Scored() && c.Better(b.best) {
		b.best, b.bestID = c.Candidate, c.ID
	}
}

// Lead makes c the best so far. A search of a noisy task calls it when it has scored programs again: the best is then
// the one with the best mean, and its score may have fallen.
func (b *Breeder) Lead(c Child) { b.best, b.bestID = c.Candidate, c.ID }

// Demote takes back the best that the last step found: the best is again what it was when that step began. It is for
// what scores the best of a step again, between two steps (package evolve/audit).
func (b *Breeder) Demote() {
	if b.steps > 0 {
		b.best, b.bestID = b.prior.Candidate, b.prior.ID
	}
}

// Fail ends the search with err. A brief or a take that cannot go on calls it, on the goroutine that it is called on:
// an archive that is broken, a policy that returns no probabilities. Children that wait in queues are not sent, those
// on the wire are awaited, and Breed returns err with all that was made. The first error stands.
func (b *Breeder) Fail(err error) {
	if b.failed == nil {
		b.failed = err
	}
}

// mostFailures is how many calls in a row may fail in steps of n children.
func (b *Breeder) mostFailures(n int) int { return cmp.Or(b.MaxFailures, max(2*n, 32)) }
