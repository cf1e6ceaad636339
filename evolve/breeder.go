package evolve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Brief says how one child is to be made. Brief{}.Of(parent) asks a proposer for a rewrite of parent.
type Brief struct {
	// Request is what the task's Prompt is given: the parents, with the one to be changed first, and the instruction.
	task.Request
	// Messages are sent in place of Task.Prompt(Request); nil means Task.Prompt(Request).
	Messages []llm.Message
	// Prepare is called before the prompt is written, and returns the request for it: the brief's, with what it has
	// learned, such as how the parent does on fresh cases. A why that is not "" means that no model is asked, which costs
	// this child alone. An error ends the search. nil means the brief's Request. It runs on a goroutine of the child's
	// own, and may evaluate. A resumed run calls it again: equal results must lead to an equal request.
	Prepare func(ctx context.Context, ask task.Request) (now task.Request, why string, err error)
	// Parse reads the program out of a reply; nil means the task's own in the Request's Form, which may take a diff.
	Parse func(reply string) (string, error)
	// Make makes the child itself, in place of a call: a merge, a tuning, an agent's session. What it asks of models and
	// evaluates is w's, so that it is on the books. nil means a call. It is called on a goroutine of the child's own. An
	// error costs this child alone, unless the run cannot go on.
	Make func(ctx context.Context, w *Work) (program string, err error)
	// Admit is called before the child's evaluation is paid for, on a goroutine of the child's own. A why that is not
	// "" refuses the program, which costs this child alone. An error ends the search. nil admits all.
	Admit func(ctx context.Context, program string) (why string, err error)
	// Proposer is the number of the proposer that is asked, from 1; 0 means the one of [Breeder.Draw], or drawn then.
	Proposer int
	// LLM is asked in place of the proposer's; nil means the proposer's.
	LLM llm.LLM
	// Seed is the request's; 0 means that of the child's place ([ChildSeed] of seed 0, n, the step and the index).
	// Derive it from the search's seed and that place. Do not draw it: a draw depends on what was drawn before.
	Seed     uint32
	From     []int  // IDs of the parents, with the one that the child is made from first
	Operator string // what makes the child, for the record; "" for a plain rewrite
	// Labels say how else the child is made, by kind, for the record: "island", "selector". A search may add to them
	// where the child stands ("cell"), until it has taken the child in. nil means none.
	Labels map[string]string
}

// Of returns b for a child of parents, the one to be changed first: their programs and their IDs.
func (b Brief) Of(parents ...Child) Brief {
	b.Parents, b.From = nil, nil
	for _, p := range parents {
		b.Parents = append(b.Parents, p.Candidate)
		b.From = append(b.From, p.ID)
	}
	return b
}

// ChildSeed returns the seed that a child's request carries: the first four bytes, big endian, of
// SHA-256 over four big-endian uint32: the search's seed, the number N of children in a generation,
// the generation counted from 0 (one less than [Generation.Index]), and the child's index. A seed is
// addressed and not drawn, so no scheduling can change it, and a child that is made again alone has the
// same one. This is BaSE's derivation (arXiv 2605.29268).
func ChildSeed(seed uint32, n, generation, index int) uint32 {
	b := make([]byte, 0, 16)
	for _, v := range []uint32{seed, uint32(n), uint32(generation), uint32(index)} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint32(sum[:4])
}

// An Order says in which order a Breeder takes children in, which decides what the next brief knows of.
type Order int

// The orders.
const (
	// ByIndex takes children in by index, so that the same replies give the same result.
	ByIndex Order = iota
	// AsTheyEnd takes each child in when it ends, which decides what is asked for next. A journal repeats the order.
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

// Noise says what a search does about an evaluator that may score the same program differently. Every child is
// evaluated then, by a sample of its own. The zero value has the defaults.
//
// A program is the mean of its samples. The best are kept, for each child some of them are scored again, and the
// parent is the best mean. Otherwise a lucky score stays for ever. Once the run is over, its best is scored on fresh
// samples, which the search has not seen. All this is within Budget.Evaluations. See docs/guide.md.
//
// What it gains was measured with noise that is normal or has tails, and with timings of one machine. With a long
// tail below, as timings have it, it gains a little less than scoring once does, and Student's interval of the fresh
// samples is too short: claim [eval.Samples.MedianRange] there.
type Noise struct {
	// Rescore is how many programs are scored again for each child, at most 64; 0 means 0.25, negative none. Where scores
	// that are taken again turn out to agree, it is one for 32 children.
	Rescore float64
	// Keep is how many programs may be scored again, the best ones; 0 means 4.
	Keep int
	// Fresh is how many fresh samples the best program is scored on once the run is over; 0 means 8, negative none.
	Fresh int
}

// maxRescore is the most programs that a search may score again for each child.
const maxRescore = 64

// WithDefaults returns n with the defaults in place of zeros, and fails if a field is wrong. Of nil, which stands for
// exact scores, it returns nil. docs/claims.md has the figures that the defaults rest on.
func (n *Noise) WithDefaults() (*Noise, error) {
	switch {
	case n == nil:
		return nil, nil
	case !(n.Rescore <= maxRescore): // NaN too
		return nil, fmt.Errorf("evolve: Noise.Rescore is %v: need at most %d for each child", n.Rescore, maxRescore)
	case n.Keep < 0:
		return nil, fmt.Errorf("evolve: Noise.Keep is %d: need 0 for 4, or more", n.Keep)
	}
	return &Noise{Rescore: cmp.Or(n.Rescore, 0.25), Keep: cmp.Or(n.Keep, 4), Fresh: cmp.Or(n.Fresh, 8)}, nil
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
//   - Which of several proposers makes a child is a bandit's, which learns from what became of their children.
//
// A search that embeds a Breeder has all methods of an [Arm] and a [Starter] but Step. One goroutine at a time calls
// it. Its fields must not be changed between steps.
type Breeder struct {
	Task task.Task // required
	LLM  llm.LLM   // required, unless every brief has a Make or an LLM, or every proposer one
	// Proposers are the ways to ask for a child, of which Policy draws one for each; nil means LLM with what the task
	// tells it. With about 500 calls a mixture of unlike ones is worth more than twice the calls of one, and where they
	// do not differ it costs next to nothing; see docs/policies.md.
	Proposers []Proposer
	// Policy draws proposers; nil means [bandit.BetaThompson]. Where a call of one costs more than that of another, it is
	// told so by [bandit.Round].Costs, in the unit of the budget of which the largest share is spent.
	Policy bandit.Policy
	// Credit says what the draw of a child's proposer was worth to Policy. It is called when take has returned, and
	// reports false if nothing can be learned. Rewards are expected in [0, 1]. nil means by how much the child is better
	// than its parent, as a part of the largest gain of the search so far, which is taken to shrink by 0.5 % a child.
	Credit func(Child) (reward float64, ok bool)
	// Shared has the policy also learn from other searches' draws of proposers of the same names, when a step begins.
	Shared bool
	Seed   uint32 // addresses the draws of proposers; 0 is a seed like another
	// From is the initial program with its score; nil means that the task's is evaluated before the first step.
	From *eval.Candidate
	// Window is how many children are under way at once; 0 means all of the step. One step of many children
	// with a window is a steady-state search, because each child is briefed when another was taken in. With
	// ByIndex one slow child holds the window back until it ends. With AsTheyEnd a child whose call pauses before a
	// retry does not count, but never are as many as two windows under way.
	Window int
	Order  Order // ByIndex is the default
	// Strict says that a child that scores the same as the best does not take its place as a parent ([Made].Kept).
	Strict bool
	// Noise says that the evaluator may score the same program differently, and what is done about it; the search that
	// embeds the Breeder calls [Breeder.Rescore]. nil means that scores are exact: equal programs (but for white space
	// at their end) are evaluated once in a run.
	Noise *Noise
	// MaxFailures is how many calls in a row may fail (not time out) before the search ends; 0 means twice the
	// children of a step, at least 32. Failed calls do not use up Budget.Calls, so an endpoint that fails every
	// call would keep the run busy for ever. Calls that a journal recalls do not count. A run of which no call was ever
	// answered ends sooner: after 6 failed attempts, once the calls under way have failed too.
	MaxFailures int
	// OnChild, if not nil, is called with each child as soon as it has ended, on the goroutine that calls Breed.
	OnChild func(Child)

	started bool
	initial eval.Candidate
	best    eval.Candidate
	bestID  int // its order of birth
	now     breederStep
	past    []Made // steps that ended whole
	born    int    // children briefed
	widest  int    // the most children that were under way at once
	// children in a row, by the order in which they were taken in, whose Prepare had nothing to ask for
	idle     int
	sampling *step.Schedule // nil unless programs are scored again
	failing  step.Streak    // over steps, as a step may be shorter than a streak
	failed   error          // what a brief or a take ended the search with
	err      error          // what ended the search

	proposing proposing
	budget    Budget // of the run, once a step has begun
}

// A breederStep is what a Breeder keeps of its current step, until the next one begins.
type breederStep struct {
	number int   // from 1; 0 before the first
	before Child // the best when it began
	// planned says that a Breadth was asked for the step after it, and has answered width or err. A run asks every arm for
	// its Calls before each draw, and the Breadth is asked once a step.
	planned bool
	width   int
	err     error
}

// validate reports a field that is wrong, in Start: a Breeder is embedded as a literal and has no constructor.
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
	return cmp.Or(err, validProposers(b.Proposers))
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

// Done reports whether an error ended the search, or MaxFailures children in a row, 0 meaning 32, had nothing to ask
// for ([Brief].Prepare): such children use up no budget of calls.
func (b *Breeder) Done() bool { return b.err != nil || b.idle >= b.mostFailures(0) }

// Steps returns how many steps were begun.
func (b *Breeder) Steps() int { return b.now.number }

// Width asks of, once a step, how many children the next step makes. An error says that of panicked, or that the number
// is not in 1..MaxN. A search asks it before Breed, and in the Calls of a [Sizer].
func (b *Breeder) Width(of Breadth) (int, error) {
	if !b.now.planned {
		b.now.width, b.now.err = widthOf(of, b.past)
		b.now.planned = true
	}
	return b.now.width, b.now.err
}

// Start evaluates the initial program, unless it is already.
func (b *Breeder) Start(ctx context.Context, turn *Turn) error {
	if b.err == nil {
		b.err = b.validate()
	}
	if b.started || b.err != nil {
		return b.err
	}
	b.initial = b.Best()
	if b.From == nil {
		var err error
		if b.initial.Result, err = turn.Evaluate(ctx, b.Task, b.initial.Program, 0); err != nil {
			b.err = fmt.Errorf("evolve: evaluating the initial program of %s: %w", b.Task.Name(), err)
			return b.err
		}
	}
	b.best, b.started, b.proposing = b.initial, true, b.newProposing()
	if n := b.noise(); n != nil && n.Rescore >= 0 {
		b.sampling = step.NewSchedule(n.Rescore)
	}
	return nil
}

// noise returns what the search does about noise, with the defaults.
func (b *Breeder) noise() *Noise {
	n, _ := b.Noise.WithDefaults() // what is wrong, Start says
	return n
}

// Initial returns the initial program as the child with the ID 0, a parent like any other; not scored before Start.
func (b *Breeder) Initial() Child {
	if b.started {
		return Child{Candidate: b.initial}
	}
	return Child{Candidate: b.Best()}
}

// takeIn keeps the best child so far, of ties the first, so that by index it does not matter which of two ended first.
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

// Demote reverts to the best of the time when the last step began. A run calls it between two steps, where
// [Config.Audit] does not confirm the best of the last one.
func (b *Breeder) Demote() {
	if b.now.number > 0 {
		b.best, b.bestID = b.now.before.Candidate, b.now.before.ID
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

// Rescore scores those of a noisy search's best programs again that are due. Pass the valid ones, best first; the best
// Noise.Keep are looked at. It returns for each its result with the new samples, nil if it has none. Call it before
// each brief, since a steady-state search is one step, and then [Breeder.Lead] with the best mean.
//
// Samples have numbers in the order in which they are due, whichever ends first. Where the budget has no room, which
// the turn has noted, or where a failed call cost a sample, there is none. Children are not scored several times:
// there are many, and what does the harm is a parent with a lucky score.
func (b *Breeder) Rescore(ctx context.Context, turn *Turn, best []eval.Candidate) ([]*eval.Result, error) {
	again := make([]*eval.Result, len(best))
	if b.sampling == nil {
		return again, nil
	}
	best = slices.Clone(best[:min(b.noise().Keep, len(best))])
	stats := make([]step.Stat, len(best))
	for i, c := range best {
		stats[i] = step.Stat{Mean: c.Result.Score, N: c.Result.N()}
	}
	due := b.sampling.Due(stats)
	programs, numbers := make([]string, len(due)), make([]int, len(due))
	for i, at := range due {
		programs[i], numbers[i] = best[at].Program, b.sampling.Number()
	}
	results, errs := b.samples(ctx, turn, programs, numbers)
	for _, err := range errs {
		if _, refused := Refused(err); err != nil && !refused && !Lost(err) {
			return nil, fmt.Errorf("evolve: scoring a program again in step %d: %w", b.now.number, err)
		}
	}
	for i, at := range due {
		if errs[i] != nil {
			continue
		}
		c := &best[at].Result
		if results[i].Valid && c.Valid {
			b.sampling.Sample(step.Stat{Mean: c.Score, N: c.N()}, results[i].Score, results[i].N())
		}
		*c = eval.Pool(*c, results[i])
		again[at] = c
	}
	return again, nil
}

// samples evaluates each program for the sample of the same index, as many at once as children were under way.
func (b *Breeder) samples(ctx context.Context, turn *Turn, programs []string, numbers []int) ([]eval.Result, []error) {
	results, errs := make([]eval.Result, len(programs)), make([]error, len(programs))
	slots := make(chan struct{}, max(1, b.widest))
	var wg sync.WaitGroup
	for i, program := range programs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = errors.New("evolve: scoring a program again ended its goroutine") // stands if runtime.Goexit does
			errs[i] = guard("scoring a program again", func() (err error) {
				results[i], err = turn.Evaluate(ctx, b.Task, program, numbers[i])
				return err
			})
		})
	}
	wg.Wait()
	return results, errs
}

// firstFresh is the number of the first fresh sample: searches number theirs from 0, and children's by their seeds.
const firstFresh = 1 << 30

// claim scores program on n fresh samples, and pools what it gets of them. A run calls it with its best program once
// it is over: that was chosen for its score, so the score claims too much.
func (b *Breeder) claim(ctx context.Context, turn *Turn, program string, n int) (eval.Result, error) {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = firstFresh + i
	}
	results, errs := b.samples(ctx, turn, slices.Repeat([]string{program}, n), numbers)
	var have []eval.Result
	for i, r := range results {
		if errs[i] == nil {
			have = append(have, r)
		}
	}
	err := cmp.Or(errs...)
	if len(have) == 0 {
		return eval.Result{}, err
	}
	return eval.Pool(have...), err
}

// A Breadth decides how many children each step of a search makes. Many at once take the time of one, and those after
// the first better one are wasted, as rewrites of a parent that is beaten. See docs/policies.md for which to use.
//
// One value may serve many searches at once, so it must be safe for concurrent use. A Breadth should print itself,
// because a journal recognizes a run by it. One that has a method Validate() error is refused before the first step if
// that returns an error. Package breadth has some to choose from.
type Breadth interface {
	// Children returns how many children the next step makes, in 1..MaxN. past holds the steps of the search, oldest
	// first; it must not be changed or kept. The number depends on past alone, or a resumed run would decide
	// otherwise. It must not read all of past, as it is called before each of perhaps 100,000 steps.
	Children(past []Made) int
}

// Made is what a [Breadth] sees of a step that ended.
type Made struct {
	Children int // that were made, with a score or without; fewer than wished where the budget had no room for more
	Better   int // of them: strictly better than the search's best when the step began
	Kept     int // of them: better or, unless the search is strict, valid, as good, and no copy of the parent
	// Elapsed is how long the step took, in whole milliseconds, in a resumed run as the journal has it.
	Elapsed time.Duration
}

// A BreadthFunc is a func as a [Breadth]. It prints as its type, so a journal cannot tell two of them apart.
type BreadthFunc func(past []Made) int

// Children returns f(past).
func (f BreadthFunc) Children(past []Made) int { return f(past) }

var _ Breadth = BreadthFunc(nil)

// validBreadth returns what is wrong with the fields of a Breadth that can say so, as those of package breadth
// can. What is wrong with another shows when it is asked.
func validBreadth(b Breadth) error {
	if v, ok := b.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// widthOf asks b how many children the next step makes. An error names b: it panicked, or the number is out of
// range. The number is not mended, because a mistake of that kind would decide what a run costs.
func widthOf(b Breadth, past []Made) (n int, err error) {
	if err := validBreadth(b); err != nil {
		return 0, err
	}
	name := nameOf(b)
	if bad := step.Guard("Breadth "+name, func() { n = b.Children(past) }); bad != nil {
		return 0, bad
	}
	if n < 1 || n > MaxN {
		return 0, fmt.Errorf("evolve: Breadth %s asks for %d children in step %d: need at least 1, and at most %d",
			name, n, len(past)+1, MaxN)
	}
	return n, nil
}
