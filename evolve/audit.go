package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
)

// An Audit has a second evaluator score the best program of each step. It is a field of [Config], and its results are in
// [Generation.Audits]. The first generation of an arm also has the audit of its initial program, which is never demoted.
type Audit struct {
	// By scores the best of each step; required. Its evaluations are recorded, and count in Budget.Evaluations. By should
	// be comparable, as a pointer is; otherwise nothing that it scored is remembered.
	By eval.Evaluator
	// Demote reverts to the previous best unless By scores the new one higher, and the search continues from there. A best
	// that By finds invalid, or that could not be audited because the budget had no room or the step was cut short, is
	// demoted too. A valid best after an invalid one is kept. false means that audits are only reported.
	//
	// Use Demote only with a By that is free of noise: noise of half an improvement cancels the gain, and more does harm.
	// Every arm needs a method Demote, as a [Breeder] has, and none may rescore its programs.
	Demote bool
}

func (a *Audit) validate(arms []Arm) error {
	if a != nil && a.By == nil {
		return errors.New("evolve: Config.Audit.By is nil: need an evaluator other than the search's")
	}
	for i, arm := range arms {
		_, able := arm.(interface{ Demote() })
		if n := noiseOf(arm); a != nil && a.Demote && (!able || n != nil && (n.Rescore > 0 || n.Fresh > 0)) {
			return fmt.Errorf("evolve: Config.Audit.Demote: Arms[%d] rescores its programs, so that luck would decide what is "+
				"demoted, or has no method Demote: leave Demote out to report audits alone", i)
		}
	}
	return nil
}

// An auditor audits one arm.
type auditor struct {
	*Audit
	arm  Arm
	last *eval.Audit // of the best that the arm has now; nil before the first
}

// step steps the arm, and audits its best if that is new.
func (a *auditor) step(ctx context.Context, turn *Turn) (Generation, error) {
	gen, err := a.arm.Step(ctx, turn)
	if a.Audit == nil || gen.Best.Program == "" {
		return gen, err
	}
	if a.last == nil {
		first, bad := a.ask(ctx, turn, gen.Before)
		a.last, err = &first, cmp.Or(err, bad)
		gen.Audits = append(gen.Audits, first)
	}
	if gen.Best.Program == a.last.Program {
		return gen, err
	}
	next, bad := a.ask(ctx, turn, gen.Best)
	a.judge(&next)
	gen.Audits, gen.Best = append(gen.Audits, next), a.arm.Best()
	return gen, cmp.Or(err, bad)
}

// ask has the second evaluator score c. It returns no error if the budget has no room, since the turn records that.
func (a *auditor) ask(ctx context.Context, turn *Turn, c eval.Candidate) (eval.Audit, error) {
	r, err := turn.Evaluate(ctx, second{a.By}, c.Program, 0)
	if err != nil {
		r = eval.Invalid("not audited: %v", err)
	}
	switch limit, refused := Refused(err); {
	case refused && limit != "" || Lost(err):
		err = nil
	case err != nil:
		err = fmt.Errorf("evolve: %v: %w", second{a.By}, err)
	}
	return eval.Audit{Candidate: c, Second: r}, err
}

// judge demotes a best that By does not score higher than the previous one, if the audit demotes.
func (a *auditor) judge(next *eval.Audit) {
	if !a.Demote || (eval.Candidate{Result: next.Second}).Better(eval.Candidate{Result: a.last.Second}) {
		a.last = next
		return
	}
	next.Demoted, next.Why = true, next.Second.Reason
	if next.Second.Valid {
		next.Why = fmt.Sprintf("its audited score %v is not above that of the previous best, %v", next.Second.Score,
			a.last.Second.Score)
	}
	a.arm.(interface{ Demote() }).Demote()
}

// second is an evaluator under another name, so that a journal tells its results from those of one that prints alike.
type second struct{ eval.Evaluator }

func (s second) String() string {
	if t, ok := s.Evaluator.(task.Task); ok {
		return "audit by " + t.Name()
	}
	return "audit by " + nameOf(s.Evaluator)
}

// A HeldOut scores programs on the cases that Task holds out from searches; see [task.HeldOut]. Under Audit.Demote these
// cases influence the search, so claim its score on others.
type HeldOut struct{ Task task.Task }

// Evaluate scores program. It fails if Task holds no cases out.
func (h HeldOut) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	r, ok, err := task.HeldOut(ctx, h.Task, program)
	if !ok {
		err = errors.New("the task holds no cases out from searches")
	}
	return r, err
}
