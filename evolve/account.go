package evolve

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// An account is a Result while it is made: what arms brought, in the order in which it was taken in. All that it holds
// but times follows from that order and not from a clock: a result made again from a journal is the same to the byte.
type account struct {
	res  *Result
	seen map[[sha256.Size]byte]bool // programs, by hash
	// evaluated holds the evaluations that were counted, and asked what evaluations asked of models. Both count for
	// the first outcome that has them, so that no count depends on which of two arms in flight was faster.
	evaluated map[record.Key]bool
	asked     map[*step.Asked]bool
	evalTime  time.Duration // that the evaluations took that were counted
	judged    int           // calls that these made of models, as far as they were answered
	tuned     []int         // tune evaluations, by arm
	costs     *allocation.Learner
}

func newAccount(arms []Arm) account {
	a := account{res: &Result{Arms: make([]ArmResult, len(arms))}, seen: make(map[[sha256.Size]byte]bool),
		evaluated: make(map[record.Key]bool), asked: make(map[*step.Asked]bool),
		tuned: make([]int, len(arms)), costs: allocation.NewLearner(len(arms))}
	for i, arm := range arms {
		a.begin(i, arm.Best())
	}
	return a
}

// begin takes in what an arm begins with: before its Start, so that a run that cannot begin has a result, and after.
func (a *account) begin(arm int, start eval.Candidate) {
	a.res.Arms[arm].Start, a.res.Arms[arm].Best = start, start
	a.better(arm)
}

// apart takes in what an arm spent before its first step or after its last, and returns how many calls were answered, how
// many attempts stalled, and how many evaluations are new.
func (a *account) apart(arm int, noted step.Account) (calls, stalls, evaluations int) {
	spent := Generation{Asides: asides(nil, noted.Calls)}
	a.count(&spent, noted.Scored)
	calls, stalls = counted(spent)
	a.res.Calls += calls
	a.res.Arms[arm].Asides = append(a.res.Arms[arm].Asides, spent.Asides...)
	return calls, stalls, spent.Evaluations
}

// add takes in what a pull of the arm brought, and the evaluations that it asked for. It completes the
// generation: it counts its evaluations, adds the calls that they made, and marks the children whose program came
// before. place is the index of the generation among the arm's.
func (a *account) add(arm int, gen *Generation, scored []step.Evaluation) (place int) {
	a.count(gen, scored)
	a.tuned[arm] += gen.TuneEvaluations
	a.mark(*gen)
	r := &a.res.Arms[arm]
	if len(r.Generations) == 0 {
		r.Start = gen.Before // has a score now, also of an arm that is not a Starter
	}
	r.Best = gen.Best
	r.Generations = append(r.Generations, slim(*gen))
	calls, _ := counted(*gen)
	a.res.Calls += calls
	a.better(arm)
	return len(r.Generations) - 1
}

// count adds those evaluations to the generation and the result that are new, and the calls that they made.
func (a *account) count(gen *Generation, scored []step.Evaluation) {
	gen.Evaluations, gen.TuneEvaluations = 0, 0
	// Asides must stand in one order, and they ended in any.
	slices.SortFunc(scored, func(x, y step.Evaluation) int { return bytes.Compare(x.Key[:], y.Key[:]) })
	for _, s := range scored {
		if !a.evaluated[s.Key] {
			a.evaluated[s.Key] = true
			if s.Tuned {
				gen.TuneEvaluations++
			} else {
				gen.Evaluations++
				a.evalTime += s.Took
			}
		}
		if s.Asked != nil && !a.asked[s.Asked] {
			a.asked[s.Asked] = true
			for _, c := range s.Asked.Calls() {
				gen.Asides = append(gen.Asides, Call(c))
				if answered(c.Attempts) {
					a.judged++
				}
			}
		}
	}
	a.res.Evaluations += gen.Evaluations
	a.res.TuneEvaluations += gen.TuneEvaluations
}

// tunedBeside returns how many tune evaluations the other arms have made.
func (a *account) tunedBeside(arm int) (n int) {
	for i, of := range a.tuned {
		if i != arm {
			n += of
		}
	}
	return n
}

// counted returns how many calls of the generation were answered, and how many attempts stalled: a budget pays for
// answers, and each attempt that stalls costs time and tokens of its own.
func counted(gen Generation) (calls, stalls int) {
	for attempts := range gen.EachCall {
		if answered(attempts) {
			calls++
		}
		for _, at := range attempts {
			if at.Status.Class() == llm.Stall {
				stalls++
			}
		}
	}
	return calls, stalls
}

// better makes the arm's best candidate the run's if it is better. While the run's best was not evaluated, one
// that was replaces it even if it is invalid, since its result says why.
func (a *account) better(arm int) {
	best, old := a.res.Arms[arm].Best, a.res.Best
	if arm == a.res.BestArm && old.Better(best) {
		// The arm has scored its best again, and it was luck. Whatever is the best now takes its place.
		a.res.Best = best
		for i := range a.res.Arms {
			if a.res.Arms[i].Best.Better(a.res.Best) {
				a.res.Best, a.res.BestArm = a.res.Arms[i].Best, i
			}
		}
		return
	}
	unknown := !old.Result.Valid && old.Result.Reason == ""
	if best.Better(old) || unknown && (old.Program == "" || best.Result.Reason != "") {
		a.res.Best, a.res.BestArm = best, arm
	}
}

// mark names the children's programs, and marks those whose program came before, in the order of outcomes and
// children. The order of evaluations may be another in replay, as which of two in flight is first is chance.
func (a *account) mark(g Generation) {
	a.repeated(g.Before.Program)
	for i := range g.Children {
		if c := &g.Children[i]; c.HasProgram() {
			c.Duplicate = a.repeated(c.Program)
			c.Hash = record.KeyOf(c.Program).String()
		}
	}
}

// repeated reports whether it was called with the same program before. The memory of programs trims the same, so a
// child is a Duplicate exactly if its program was not evaluated again.
func (a *account) repeated(program string) bool {
	sum := sha256.Sum256([]byte(step.Trim(program)))
	before := a.seen[sum]
	a.seen[sum] = true
	return before
}

// scoreOf returns what the core has to know of a candidate.
func scoreOf(c eval.Candidate) allocation.Score {
	return allocation.Score{Valid: c.Result.Valid, Value: c.Result.Score}
}

// learn records what a pull cost, so that later draws know what a call of its arm costs. Failed calls cost as much.
func (a *account) learn(p bandit.Pull, gen *Generation, evalTime time.Duration, whole bool, prices step.Prices) {
	came := step.Amounts{Evaluations: gen.Evaluations, EvalTime: evalTime}
	answers := 0
	for attempts := range gen.EachCall {
		used, _ := prices.Used(step.Size{}, attempts)
		came = came.Plus(used)
		came.Calls++
		if answered(attempts) {
			answers++
		}
	}
	a.costs.Add(p.Arm, p.Calls, came, whole && answers > 0)
}

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
// which candidate is the best; calls, limits and errors do not depend on what it tells.
//
// A step that was cut short must not be reported as whole. Its reward would stand in the journal. Made again without
// the interruption, the step would ask for more than the file holds, and all would be stuck behind ErrDiverged.
func (o *outcome) close(s *step.Step) {
	o.Account = s.Account()
	o.gen.Asides = asides(o.gen.Children, o.Calls)
	o.gen.Limit, o.err = ended(o.Account, o.gen.Limit, o.err)
	// An arm that looks at its context may have stopped early without asking for anything more. If the step was whole
	// all the same, to make it again costs nothing, as all of its answers are in the journal.
	if o.err == nil && (o.Cut || s.Over() && !s.Past.Ended) {
		o.err = errCut
	}
	o.gen.Partial = o.gen.Partial || o.err != nil
}

// ended returns the limit that bound in a step, and the error that ends the run: the arm's, or one that the arm kept to
// itself. That the journal failed counts before what the arm made of it, which may look like the end of the run. So does
// a fault before what was refused because of it. That the budget has no room limits the step, and is not an error.
func ended(a step.Account, limit string, err error) (string, error) {
	var refused *step.Refused
	if errors.As(err, &refused) {
		limit, err = cmp.Or(limit, refused.Limit), nil
	}
	var doomed *step.Doomed
	if err == nil || step.OfJournal(a.Fatal) || errors.As(err, &doomed) {
		err = cmp.Or(a.Fatal, err)
	}
	return cmp.Or(limit, a.Limit), err
}

// errCut is the error of a step in which something was abandoned although its arm returned none.
var errCut = fmt.Errorf("evolve: the step was cut short: %w", llm.ErrDraining)

// asides returns the calls of a step that are not its children's, in an order that does not depend on which ended first.
// A call is a child's if the child holds the Attempts of its reply, the slice and not an equal one. Attempts that no
// call of the step returned are taken from the child. So each call counts once, whatever the arm returns.
func asides(children []Child, made []step.Call) []Call {
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
	// Which of two calls that are made at once ends first is chance, and a resumed run must have the same result.
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
