// Package audit has a second evaluator look at what a search holds to be its best.
//
// A search chooses what its evaluator scores highest, and with that what the evaluator is wrong about: cases that a program
// fits by chance, noise, a hole in a rule. An evaluator that the search does not choose by does not share these errors:
// held-out cases, another implementation, a fresh sample. docs/guide.md says which to use when.
package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// Config says how a search is audited.
type Config struct {
	// By scores the best of each generation again; required. What it scores is an evaluation of the run: it is in the
	// journal and in Budget.Evaluations. It should be comparable, as a pointer is, or else it is asked again each time.
	By eval.Evaluator
	// Demote reverts to the previous best unless By scores the new one more. The search then goes on from that one. A
	// program that is invalid by By is taken back, and one that is valid after one that is not is kept. A best that could
	// not be audited, because the budget had no room or the step was cut short, is taken back too. False means that audits
	// are only reported.
	//
	// Use it with a By that is free of noise alone: noise of half of what an improvement is worth takes the gain away, and
	// more does harm (docs/guide.md). A search that scores its programs again, as those of noisy tasks do, does not demote.
	Demote bool
}

// A demoter is a search that can take back the best that its last step found: the best is again what it was when that
// step began. evolve.Greedy, population.Population and whatever embeds [evolve.Breeder] are.
type demoter interface {
	evolve.Arm
	Demote()
}

// New returns arm with the best of each generation audited. The audits are in [evolve.Generation.Audits]. The first
// generation also has that of the program that the search began with, which is never demoted. It fails if By is nil, or
// if arm is to demote and has no method Demote or scores its programs again.
//
// Its arms may share one By: a program that is the best of several is audited once. It is a Sizer if arm is one. A journal
// does not tell a run with audits from one without, unless its Fingerprint does: have it say how the arm prints.
func New(arm evolve.Arm, cfg Config) (evolve.Arm, error) {
	able, ok := arm.(demoter)
	switch {
	case arm == nil:
		return nil, errors.New("audit: the arm is nil")
	case cfg.By == nil:
		return nil, errors.New("audit: Config.By is nil: need an evaluator that the search does not choose by")
	case cfg.Demote && rescores(arm):
		return nil, fmt.Errorf("audit: Config.Demote of %v, whose task is noisy: luck would decide what is taken back (docs/guide.md); leave Demote out to report audits alone", nameOf(arm))
	case cfg.Demote && !ok:
		return nil, fmt.Errorf("audit: Config.Demote of %v, which has no method Demote: embed evolve.Breeder, or leave Demote out to report audits alone", nameOf(arm))
	}
	s := &search{Arm: arm, cfg: cfg, by: second(cfg.By)}
	if cfg.Demote {
		s.demoter = able
	}
	if sizer, ok := arm.(evolve.Sizer); ok {
		return &sized{s, sizer}, nil
	}
	return s, nil
}

// search is an arm whose best is audited. It is used as an arm is: by one goroutine at a time.
type search struct {
	evolve.Arm
	cfg     Config
	by      eval.Evaluator
	demoter demoter // nil if nothing is demoted
	last    *eval.Audit
}

// sized is a search that says how many calls it would like.
type sized struct {
	*search
	sizer evolve.Sizer
}

var (
	_ evolve.Starter = (*search)(nil)
	_ evolve.Sizer   = (*sized)(nil)
	_ demoter        = (*evolve.Greedy)(nil)
)

// Calls returns how many calls the next step would make.
func (s *sized) Calls() int { return s.sizer.Calls() }

// Start starts the arm, if it has anything to evaluate before its first step.
func (s *search) Start(ctx context.Context, turn *evolve.Turn) error {
	if starter, ok := s.Arm.(evolve.Starter); ok {
		return starter.Start(ctx, turn)
	}
	return nil
}

// Breadth returns that of the arm, nil for none. A journal recognizes a run by how it prints itself.
func (s *search) Breadth() evolve.Breadth {
	if b, ok := s.Arm.(interface{ Breadth() evolve.Breadth }); ok {
		return b.Breadth()
	}
	return nil
}

// rescores reports whether a search scores its programs again, or its best on fresh samples.
func rescores(arm evolve.Arm) bool {
	n := evolve.NoiseOf(arm)
	return n != nil && (n.Rescore > 0 || n.Fresh > 0)
}

// Step steps the arm and audits its best, if that is a new one.
func (s *search) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	gen, err := s.Arm.Step(ctx, turn)
	if gen.Best.Program == "" {
		return gen, err
	}
	if s.last == nil && err == nil {
		var first eval.Audit
		first, err = s.audit(ctx, turn, gen.Before)
		s.last = &first
		gen.Audits = append(gen.Audits, first)
	}
	known := gen.Before.Program
	if s.demoter != nil && s.last != nil {
		known = s.last.Candidate.Program
	}
	if gen.Best.Program != known {
		a := eval.Audit{Candidate: gen.Best, Second: eval.Invalid("not audited: the step was cut short")}
		if err == nil {
			a, err = s.audit(ctx, turn, gen.Best)
		}
		s.judge(&a)
		gen.Audits = append(gen.Audits, a)
		gen.Best = s.Arm.Best()
	}
	return gen, err
}

// audit has the second evaluator score c. A budget without room does not fail the search: the turn has noted it.
func (s *search) audit(ctx context.Context, turn *evolve.Turn, c eval.Candidate) (eval.Audit, error) {
	r, err := turn.Evaluate(ctx, s.by, c.Program, 0)
	if limit, refused := evolve.Refused(err); refused && limit != "" {
		r, err = eval.Invalid("not audited: Budget.%s has no room", limit), nil
	}
	if evolve.Lost(err) {
		r, err = eval.Invalid("not audited: %v", err), nil
	}
	if err != nil {
		return eval.Audit{Candidate: c, Second: eval.Invalid("not audited: %v", err)}, fmt.Errorf("audit: %v: %w", s.by, err)
	}
	return eval.Audit{Candidate: c, Second: r}, nil
}

// judge demotes what is not better than the best before it, if the search demotes.
func (s *search) judge(a *eval.Audit) {
	if s.demoter != nil && !(s.last != nil && eval.Candidate{Result: a.Second}.Better(eval.Candidate{Result: s.last.Second})) {
		a.Demoted, a.Why = true, s.why(*a)
		s.demoter.Demote()
		return
	}
	s.last = a
}

// why says why a is demoted.
func (s *search) why(a eval.Audit) string {
	if !a.Second.Valid {
		return a.Second.Reason
	}
	return fmt.Sprintf("its audited score %v is not above %v, that of the best before it", a.Second.Score, s.last.Second.Score)
}

// Unwrap returns the arm that is audited, so that a run knows whether its task is noisy.
func (s *search) Unwrap() evolve.Arm { return s.Arm }

// String names the arm, the second evaluator and whether it demotes.
func (s *search) String() string {
	rule := "reports"
	if s.cfg.Demote {
		rule = "demotes"
	}
	return fmt.Sprintf("Audited(%v by %v, %s)", nameOf(s.Arm), s.by, rule)
}

// nameOf returns what the String method of an arm returns, or else its type.
func nameOf(arm evolve.Arm) string {
	if s, ok := arm.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", arm)
}

// second returns e under a name of its own, so that a journal does not take its results for the search's evaluator's
// where both print alike. Composites have parts with names of their own.
func second(e eval.Evaluator) eval.Evaluator {
	if _, ok := e.(eval.Composite); ok {
		return e
	}
	return named{e}
}

// named is equal to another of an equal evaluator.
type named struct{ eval.Evaluator }

// String names the evaluator as a second one.
func (n named) String() string {
	switch e := n.Evaluator.(type) {
	case task.Task:
		return "audit by " + e.Name()
	case fmt.Stringer:
		return "audit by " + e.String()
	}
	return fmt.Sprintf("audit by %T", n.Evaluator)
}

// HeldOut returns the evaluator that scores programs on the cases that t keeps from searches ([task.HeldOut]), and false
// if it keeps none. With Config.Demote a search is chosen by these cases too, so claim its score on others.
func HeldOut(t task.Task) (eval.Evaluator, bool) {
	held, ok := task.As[interface {
		HeldOut(ctx context.Context, program string) (eval.Result, error)
	}](t)
	if !ok {
		return nil, false
	}
	return heldOut{t.Name(), held}, true
}

type heldOut struct {
	name string
	of   interface {
		HeldOut(ctx context.Context, program string) (eval.Result, error)
	}
}

// Evaluate scores program on the held-out cases.
func (h heldOut) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return h.of.HeldOut(ctx, program)
}

// String names the task.
func (h heldOut) String() string { return "held-out cases of " + h.name }
