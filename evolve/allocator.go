package evolve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/memory"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
)

// An Allocator is [Run] as an [Arm]: a step draws one of its arms and steps that. So allocators
// nest: a bandit over tasks or models, say, each of them a bandit over seeds.
//
// It has no journal. Its draws follow from its seed and the outcomes of its arms. Those outcomes are in the
// journal of the run around it, so its draws are made again without a record of them.
type Allocator struct {
	account
	cfg   Config
	core  *allocation.Core
	steps int   // begun
	err   error // the policy's, or another that ended it; nothing can be drawn after it
}

var (
	_ Sizer   = (*Allocator)(nil)
	_ Starter = (*Allocator)(nil)
)

// NewAllocator returns an allocator that has not begun. It fails unless cfg fits an arm of another run:
//
//   - cfg.Budget may be empty, because the run around it has one. It must not limit tokens, FLOPs, money,
//     evaluator time, wall time or tune evaluations, which only that run can keep. Such a limit would be passed in
//     silence.
//   - cfg.InFlight must be 0 or 1, because an arm is stepped by one goroutine at a time.
//   - cfg.Journal must be nil. The journal of the run around it has everything.
//
// Config.Grace and Config.Observer are not used.
func NewAllocator(cfg Config) (*Allocator, error) {
	cfg = cfg.withDefaults()
	switch limit := cfg.Budget.shared(); {
	case cfg.InFlight != 1:
		return nil, fmt.Errorf("evolve: an Allocator's InFlight is %d: need 0 or 1", cfg.InFlight)
	case limit != "":
		return nil, fmt.Errorf("evolve: an Allocator's Budget limits %s: set it on the run around it, which alone keeps it",
			limit)
	case cfg.Journal != nil:
		return nil, errors.New("evolve: an Allocator has a Journal: " +
			"give it to the run around it, which records all that its arms do")
	}
	if err := cfg.validate(); err != nil && !errors.Is(err, errNoLimit) {
		return nil, err
	}
	return &Allocator{
		account: newAccount(cfg.Arms), cfg: cfg,
		core: allocation.New(allocation.Config{Arms: len(cfg.Arms), Policy: cfg.Policy, Seed: cfg.Seed,
			Limits: innerLimits(cfg)}),
	}, nil
}

// innerLimits returns those of the core of an allocator. Fresh samples are the business of the run around it.
func innerLimits(cfg Config) allocation.Limits {
	m := marginOf(cfg.Arms, cfg.Budget)
	m.fresh = 0
	return m.limits(cfg.Budget)
}

// Calls returns the most calls that a Step would make: those of its largest arm. Which arm it will be is drawn
// in Step, when the calls are already set aside.
func (al *Allocator) Calls() int {
	calls := 1
	for _, a := range al.arms() {
		calls = max(calls, a.Calls)
	}
	return calls
}

func (al *Allocator) arms() []allocation.Arm {
	arms := make([]allocation.Arm, len(al.cfg.Arms))
	for i, arm := range al.cfg.Arms {
		arms[i] = about(arm)
	}
	return arms
}

// Start lets each arm evaluate what it begins with.
func (al *Allocator) Start(ctx context.Context, turn *Turn) error {
	for i, arm := range al.cfg.Arms {
		if s, ok := arm.(Starter); ok {
			if err := s.Start(ctx, turn); err != nil {
				return fmt.Errorf("evolve: arm %d: %w", i, err)
			}
		}
		if al.steps == 0 { // else the arm has gone on from where it began
			al.begin(i, arm.Best())
			al.core.Begin(scoreOf(arm.Best()))
		}
	}
	return nil
}

// Step draws an arm and steps it. It returns [ErrDone] once there is a reason to stop.
func (al *Allocator) Step(ctx context.Context, turn *Turn) (Generation, error) {
	before := al.Best()
	gen := Generation{Index: al.steps + 1, Before: before, Best: before, Partial: true}
	if err := al.ready(ctx, turn); err != nil {
		return gen, err
	}
	most := turn.Calls()
	if most == math.MaxInt {
		most = 0 // as many as there is room for
	}
	al.core.Expect(0, al.cfg.Budget.costs(al.costs))
	decision, err := al.core.Next(al.arms(), most)
	switch {
	case err != nil:
		al.err = err
		return gen, err
	case decision.Kind != allocation.Draw:
		return gen, ErrDone
	}
	al.steps++
	inner, err := al.stepArm(ctx, turn, decision)
	// The run around it sees one search: steps are numbered over all arms, and the best is that of all.
	inner.Index, inner.Before, inner.Best = gen.Index, before, al.Best()
	if err == nil {
		err = al.err // the policy's
	}
	return inner, err
}

// ready starts the arms before the first step, and returns the error for which there can be no step. It looks at
// the context before anything is drawn, so that no pull has to be canceled.
func (al *Allocator) ready(ctx context.Context, turn *Turn) error {
	switch {
	case al.err != nil:
		return al.err
	case ctx.Err() != nil:
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	case al.steps == 0:
		return al.Start(ctx, turn)
	}
	return nil
}

// stepArm steps the drawn arm and takes the outcome in.
func (al *Allocator) stepArm(ctx context.Context, turn *Turn, decision allocation.Decision) (Generation, error) {
	p := decision.Pull
	in := turn.inner(p.Arm, decision.Most)
	if in.step != nil {
		in.step.Beside += al.tunedBeside(p.Arm)
	}
	gen, err := al.cfg.Arms[p.Arm].Step(ctx, in)
	var scored []memory.Evaluation
	if in.step != nil { // an allocator stepped by hand has nobody to correct what its arm returns
		var noted step.Account
		gen, noted, err = closed(in.step, gen, err)
		scored = slices.Clone(noted.Scored)
	}
	if gen.Best.Program == "" {
		gen.Before, gen.Best = al.res.Arms[p.Arm].Best, al.res.Arms[p.Arm].Best
	}
	// A copy: the run around it adds to gen itself what evaluations asked, and it must not count twice.
	own, before := gen, al.evalTime
	round := Round{Pull: p, Generation: al.add(p.Arm, &own, scored), Best: al.res.Best.Result.Score}
	al.learn(p, &own, al.evalTime-before, err == nil, al.cfg.Budget.Models)
	calls, stalls := counted(own)
	// The outcome names no limit. The limit that bound belongs to the run around it, which ends by it and may go
	// on with a larger one. This core would not learn of that, and would stay at its end.
	report, bad := al.core.Take(allocation.Outcome{Pull: p.ID, Calls: calls, Stalls: stalls, Evaluations: own.Evaluations,
		Whole: err == nil, Best: scoreOf(own.Best)})
	if bad == nil && report {
		round.Reward = al.cfg.Reward(own) + 0
		bad = al.core.Report(p.ID, round.Reward)
	}
	if bad != nil {
		al.err = fmt.Errorf("evolve: round %d: %w", len(al.res.Rounds), bad)
		round.Reward = 0
	}
	al.res.Rounds = append(al.res.Rounds, round)
	return gen, err
}

// Best returns the best candidate of all arms so far.
func (al *Allocator) Best() eval.Candidate { return al.res.Best }

// Done reports whether every arm is done, or the allocator's own budget has run out, or its Target is
// reached.
func (al *Allocator) Done() bool { return al.err != nil || al.core.Exhausted(al.arms()) }

// Result returns what the allocator's arms have brought so far. It can be called between steps.
func (al *Allocator) Result() *Result {
	res := *al.res
	why, limit := al.core.Ended()
	res.Stop, res.Limit = Stop(why), limit
	return &res
}

// breadths returns those of its arms.
func (al *Allocator) breadths() string { return breadths(al.cfg.Arms) }

// takesTies reports whether one of its arms does.
func (al *Allocator) takesTies() (of Arm, ties bool) {
	return al, slices.ContainsFunc(al.cfg.Arms, takesTies)
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
