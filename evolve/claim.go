package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A margin is what a run sets aside of its budget for noisy arms.
type margin struct {
	rescore float64 // evaluations beside each child's, the most of any arm
	fresh   int     // samples of the best once the run is over
}

// marginOf returns what arms need, as far as the budget has it: fresh samples take no more than a quarter.
func marginOf(arms []Arm, b Budget) margin {
	var m margin
	for _, a := range arms {
		if c, ok := claimantOf(a); ok {
			rescore, fresh := c.Noise()
			m.rescore, m.fresh = max(m.rescore, rescore), max(m.fresh, fresh)
		}
	}
	if b.Evaluations > 0 {
		m.fresh = min(m.fresh, b.Evaluations/4)
	}
	if b.EvalTime > 0 {
		m.fresh = min(m.fresh, int(b.EvalTime/(4*b.EvalWorst)))
	}
	return m
}

// limits returns those of the core: fresh samples are set aside, and so is what a step scores again.
func (m margin) limits(b Budget) allocation.Limits {
	l := b.limits()
	l.Rescore = m.rescore
	if l.Evaluations > 0 {
		l.Evaluations -= m.fresh
	}
	return l
}

// amounts are what the ledger keeps for fresh samples.
func (m margin) amounts(b Budget) amounts {
	return amounts{Evaluations: m.fresh, EvalTime: time.Duration(m.fresh) * b.EvalWorst}
}

// keepsMargin returns an error if the limit on evaluators' time that the journal tells of left room for fewer fresh samples
// than the limit now. These come off Budget.Evaluations, so the steps in the journal would have another number of children.
func (d *driver) keepsMargin(then journal.Fingerprint) error {
	b := d.cfg.Budget
	was, err := time.ParseDuration(then["Budget.EvalTime"])
	if err != nil || b.Evaluations == 0 { // not limited
		return nil
	}
	b.EvalTime = was
	fresh := marginOf(d.cfg.Arms, b).fresh
	if fresh == d.margin.fresh {
		return nil
	}
	return fmt.Errorf("evolve: journal %s: %w: Budget.EvalTime was %v, which left %d of %d Evaluations for fresh samples of the best, and %s leaves %d: "+
		"raise it to less than %v, or begin anew with another journal", d.cfg.Journal.Path(), journal.ErrDiverged, was, fresh, b.Evaluations,
		orNone(d.cfg.Budget.EvalTime), d.margin.fresh, 4*time.Duration(fresh+1)*b.EvalWorst)
}

// claim scores the run's best on fresh samples, if its arm is noisy. It is called when no pull is pending. The samples that
// it gets are pooled in Result.Fresh. Result.Unconfirmed says why some are missing. It returns an error of the journal alone.
func (d *driver) claim(ctx, steps context.Context) error {
	d.shared.ledger.release()
	arm, ok := claimantOf(d.cfg.Arms[d.res.BestArm])
	if !ok {
		return nil
	}
	_, n := arm.Noise()
	if n = min(n, d.margin.fresh); n == 0 {
		return nil
	}
	ctx, end := d.closing(ctx, steps)
	defer end()
	if d.res.Unconfirmed = d.unclaimed(ctx); d.res.Unconfirmed != "" {
		return nil
	}
	s := d.step(pull{Pull: bandit.Pull{ID: -1, Arm: d.res.BestArm}}, ctx)
	s.claiming = true
	var r eval.Result
	var err error
	turn := &Turn{step: s, calls: math.MaxInt}
	bad := guard("Claim of the best arm", func() { r, err = arm.Claim(turn.within(ctx), turn, d.res.Best.Program, n) })
	d.claimed(s)
	err = cmp.Or(bad, err)
	if r.Valid || r.Reason != "" {
		d.res.Fresh = &r
	}
	if err != nil {
		d.res.Unconfirmed = err.Error()
	}
	if journalFailed(err) || journalFailed(s.fatal) {
		return cmp.Or(err, s.fatal)
	}
	return nil
}

// closing returns the context of fresh samples. A run that was canceled has what is left of the grace period for them, one
// whose time is over a grace period. Any other has the caller's context, and a grace period if that ends.
func (d *driver) closing(ctx, steps context.Context) (context.Context, context.CancelFunc) {
	if d.res.Stop == StopCanceled {
		return steps, func() {}
	}
	if d.res.Limit == wallTime && !d.wasOver {
		return context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Grace)
	}
	closing, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(d.cfg.Grace)
		defer t.Stop()
		select {
		case <-t.C:
		case <-closing.Done():
		}
		end()
	})
	return closing, func() { stop(); end() }
}

// unclaimed says why the best cannot be scored again, "" if it can.
func (d *driver) unclaimed(ctx context.Context) string {
	_, replaying := d.replaying()
	switch {
	case d.res.Stop == StopError:
		return "the run ended with an error"
	case !d.res.Best.Result.Valid:
		return "the best program is not valid"
	case replaying:
		return "the run was stopped before it had caught up with its journal"
	case ctx.Err() != nil, d.cfg.Grace == 0 && d.res.Stop == StopCanceled:
		return fmt.Sprintf("the run was stopped, and its grace period of %v is over", d.cfg.Grace)
	}
	return ""
}

// claimed adds what fresh samples cost to the result.
func (d *driver) claimed(s *step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spent := Generation{Asides: s.made}
	d.account.count(&spent, s.scored)
	calls, _ := counted(spent)
	d.res.Calls += calls
	arm := &d.res.Arms[d.res.BestArm]
	arm.Asides = append(arm.Asides, spent.Asides...)
}

// Noise returns the most that any of its arms makes. See [Breeder.Noise].
func (al *Allocator) Noise() (rescore float64, fresh int) {
	for _, a := range al.cfg.Arms {
		if c, ok := claimantOf(a); ok {
			r, f := c.Noise()
			rescore, fresh = max(rescore, r), max(fresh, f)
		}
	}
	return rescore, fresh
}

// Claim scores program on fresh samples, by the arm that has found the best. See [Breeder.Claim].
func (al *Allocator) Claim(ctx context.Context, turn *Turn, program string, n int) (eval.Result, error) {
	if c, ok := claimantOf(al.cfg.Arms[al.res.BestArm]); ok {
		return c.Claim(ctx, turn, program, n)
	}
	return eval.Result{}, errors.New("evolve: the arm with the best program does not score on fresh samples")
}
