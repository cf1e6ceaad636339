// Package audit has a second evaluator score what a search considers its best.
//
// A search chooses the programs that its evaluator scores highest, and so those that the evaluator overrates: by cases
// that a program fits by chance, by noise, by a loophole in a rule. An evaluator that plays no part in the choice does
// not share these errors: held-out cases, another implementation, a fresh sample. docs/guide.md says which to use when.
package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// Config configures the audit of a search.
type Config struct {
	// By scores the best of each generation; required. Its evaluations are the run's: they are in the journal and count in
	// Budget.Evaluations. By should be comparable, as a pointer is; otherwise nothing that it scored is remembered.
	By eval.Evaluator
	// Demote reverts to the previous best unless By scores the new one higher. The search then continues from the previous
	// best. A best that By finds invalid, or that could not be audited because the budget had no room or the step was cut
	// short, is demoted too. A valid best after an invalid one is kept. false means that audits are only reported.
	//
	// Use Demote only with a By that is free of noise: noise of half an improvement cancels the gain, and more does harm
	// (docs/guide.md). A search that rescores its programs, as for noisy tasks, cannot demote.
	Demote bool
}

// A demoter is a search whose Demote restores the best from before its last step. evolve.Greedy, population.Population
// and all types that embed [evolve.Breeder] are demoters.
type demoter interface {
	evolve.Arm
	Demote()
}

// New returns arm with the best of each generation audited. The audits are in [evolve.Generation.Audits]. The first
// generation also has the audit of the initial program, which is never demoted. New fails if By is nil, and under
// Demote if arm has no method Demote or rescores its programs.
//
// Several arms may share one By: a program that is the best of several is audited once. The result is a Sizer if arm is
// one. A journal distinguishes runs with audits from runs without only by its Fingerprint, which should contain the arm
// as printed.
func New(arm evolve.Arm, cfg Config) (evolve.Arm, error) {
	able, ok := arm.(demoter)
	switch {
	case arm == nil:
		return nil, errors.New("audit: the arm is nil")
	case cfg.By == nil:
		return nil, errors.New("audit: Config.By is nil: need an evaluator other than the search's")
	case cfg.Demote && rescores(arm):
		return nil, fmt.Errorf("audit: Config.Demote of %v, whose task is noisy: luck would decide what is demoted "+
			"(docs/guide.md); leave Demote out to report audits alone", nameOf(arm))
	case cfg.Demote && !ok:
		return nil, fmt.Errorf("audit: Config.Demote of %v, which has no method Demote: embed evolve.Breeder, or leave "+
			"Demote out to report audits alone", nameOf(arm))
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

// search is an arm whose best is audited. Like any arm, it is used by one goroutine at a time.
type search struct {
	evolve.Arm
	cfg     Config
	by      eval.Evaluator
	demoter demoter // nil unless Config.Demote
	last    *eval.Audit
}

// sized is a search around a Sizer.
type sized struct {
	*search
	sizer evolve.Sizer
}

var (
	_ evolve.Starter = (*search)(nil)
	_ evolve.Sizer   = (*sized)(nil)
	_ demoter        = (*evolve.Greedy)(nil)
)

// Calls returns the number of calls that the next step would like.
func (s *sized) Calls() int { return s.sizer.Calls() }

// Start starts the arm, if it has a Start.
func (s *search) Start(ctx context.Context, turn *evolve.Turn) error {
	if starter, ok := s.Arm.(evolve.Starter); ok {
		return starter.Start(ctx, turn)
	}
	return nil
}

// Breadth returns the arm's Breadth, or nil. A journal identifies a run by it, too.
func (s *search) Breadth() evolve.Breadth {
	if b, ok := s.Arm.(interface{ Breadth() evolve.Breadth }); ok {
		return b.Breadth()
	}
	return nil
}

// rescores reports whether a search rescores its programs, or scores its best on fresh samples.
func rescores(arm evolve.Arm) bool {
	n := evolve.NoiseOf(arm)
	return n != nil && (n.Rescore > 0 || n.Fresh > 0)
}

// Step steps the arm and audits its best, if that is new.
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

// audit has the second evaluator score c. It returns no error if the budget has no room, since the turn records that.
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

// judge demotes a best that is not better than the previous one, if the search demotes.
func (s *search) judge(a *eval.Audit) {
	if s.demoter != nil &&
		!(s.last != nil && eval.Candidate{Result: a.Second}.Better(eval.Candidate{Result: s.last.Second})) {
		a.Demoted, a.Why = true, s.why(*a)
		s.demoter.Demote()
		return
	}
	s.last = a
}

// why returns the reason for which a is demoted.
func (s *search) why(a eval.Audit) string {
	if !a.Second.Valid {
		return a.Second.Reason
	}
	return fmt.Sprintf("its audited score %v is not above that of the previous best, %v",
		a.Second.Score, s.last.Second.Score)
}

// Unwrap returns the audited arm, by which a run knows whether its task is noisy.
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

// second returns e under a name of its own, so that a journal does not confuse its results with those of the search's
// evaluator if both print alike. The parts of a Composite have names of their own.
func second(e eval.Evaluator) eval.Evaluator {
	if _, ok := e.(eval.Composite); ok {
		return e
	}
	return named{e}
}

// named is an evaluator under another name. It is equal to another named of an equal evaluator.
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

// HeldOut returns an evaluator for the cases that t holds out from searches ([task.HeldOut]), and false if there are
// none. With Config.Demote these cases influence the search, so claim its score on others.
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
