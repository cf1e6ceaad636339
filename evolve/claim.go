package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/fault"
	"github.com/evoalloc/evoalloc/evolve/internal/ledger"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// firstFresh is the number of the first fresh sample of a program. Searches number samples from 0, and children's by
// their seeds.
const firstFresh = 1 << 30

// A claimant is an arm that says how noisy its task is. A [Breeder] is one, and so are what embeds it and an Allocator.
type claimant interface {
	noise() *Noise
	claim(ctx context.Context, turn *Turn, program string, n int) (eval.Result, error)
}

// claimantOf returns the claimant that a is, or that it wraps: an arm around another has a method Unwrap() Arm.
func claimantOf(a Arm) (claimant, bool) {
	for a != nil {
		if c, ok := a.(claimant); ok {
			return c, true
		}
		wrapper, ok := a.(interface{ Unwrap() Arm })
		if !ok {
			break
		}
		a = wrapper.Unwrap()
	}
	return nil, false
}

// NoiseOf returns what an arm, or the one that it wraps with a method Unwrap() Arm, does about noise, with the
// defaults; nil if it takes its scores for exact.
func NoiseOf(arm Arm) *Noise {
	if c, ok := claimantOf(arm); ok {
		return c.noise()
	}
	return nil
}

// claim scores program on n fresh samples, and pools them. A run calls it with its best program once it is over: that
// was chosen for its score, so the score claims too much. It returns what there is of the samples, and the error that
// kept it from the others.
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

// A margin is what a run sets aside of its budget for noisy arms.
type margin struct {
	rescore float64 // evaluations beside each child's, the most of any arm
	fresh   int     // samples of the best once the run is over
}

// marginOf returns what arms need, as far as the budget has it: fresh samples take no more than a quarter.
func marginOf(arms []Arm, b Budget) margin {
	var m margin
	for _, a := range arms {
		if n := NoiseOf(a); n != nil {
			m.rescore, m.fresh = max(m.rescore, n.Rescore), max(m.fresh, n.Fresh)
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
	l := b.coreLimits()
	l.Rescore = m.rescore
	if l.Evaluations > 0 {
		l.Evaluations -= m.fresh
	}
	return l
}

// amounts are what the ledger keeps for fresh samples.
func (m margin) amounts(b Budget) ledger.Amounts {
	return ledger.Amounts{Evaluations: m.fresh, EvalTime: time.Duration(m.fresh) * b.EvalWorst}
}

// keepsMargin returns an error if the limit on evaluators' time that the journal tells of left room for fewer fresh
// samples than the limit now. These come off Budget.Evaluations, so the steps in the journal would have another number
// of children.
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

// claim scores the run's best on fresh samples, if its arm is noisy. It is called when no pull is pending. The samples
// that it gets are pooled in Result.Fresh. Result.Unconfirmed says why some are missing. It returns an error of the
// journal alone.
func (d *driver) claim(ctx, steps context.Context) error {
	d.shared.ledger.Release()
	arm, ok := claimantOf(d.cfg.Arms[d.res.BestArm])
	if !ok || arm.noise() == nil {
		return nil
	}
	n := min(arm.noise().Fresh, d.margin.fresh)
	if n <= 0 {
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
	bad := guard("the claim of the best arm", func() { r, err = arm.claim(turn.within(ctx), turn, d.res.Best.Program, n) })
	d.claimed(s)
	err = cmp.Or(bad, err)
	if r.Valid || r.Reason != "" {
		d.res.Fresh = &r
	}
	if err != nil {
		d.res.Unconfirmed = err.Error()
	}
	if fault.OfJournal(err) || fault.OfJournal(s.fatal) {
		return cmp.Or(err, s.fatal)
	}
	return nil
}

// closing returns the context of fresh samples. A run that was canceled has what is left of the grace period for them,
// one whose time is over a grace period. Any other has the caller's context, and a grace period if that ends.
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

// noise returns the most that any of its arms does, nil if their scores are exact.
func (al *Allocator) noise() *Noise {
	var most *Noise
	for _, a := range al.cfg.Arms {
		if n := NoiseOf(a); n != nil && most == nil {
			most = n
		} else if n != nil {
			most = &Noise{max(most.Rescore, n.Rescore), max(most.Keep, n.Keep), max(most.Fresh, n.Fresh)}
		}
	}
	return most
}

// claim scores program on fresh samples, by the arm that has found the best.
func (al *Allocator) claim(ctx context.Context, turn *Turn, program string, n int) (eval.Result, error) {
	if c, ok := claimantOf(al.cfg.Arms[al.res.BestArm]); ok {
		return c.claim(ctx, turn, program, n)
	}
	return eval.Result{}, errors.New("evolve: the arm with the best program does not score on fresh samples")
}
