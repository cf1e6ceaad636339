package evolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
)

// An Allocator is [Run] as an [Arm]: a step draws one of its arms and steps that. So allocators
// nest: a bandit over tasks or models, say, each of them a bandit over seeds.
type Allocator struct {
	a     *allocation
	calls int
	steps int
}

var _ Sizer = (*Allocator)(nil)

// NewAllocator returns an allocator that has not begun. Here cfg.Budget may be empty, as the run
// around it has one, and must not limit tokens, FLOPs, money, evaluator or wall time, which that run
// keeps for all of its arms; cfg.InFlight must be 0 or 1, as an arm is stepped by one goroutine at a
// time.
func NewAllocator(cfg Config) (*Allocator, error) {
	cfg = cfg.withDefaults()
	if cfg.InFlight != 1 {
		return nil, fmt.Errorf("evolve: an Allocator's InFlight is %d: need 0 or 1", cfg.InFlight)
	}
	if err := cfg.validate(); err != nil && !errors.Is(err, errNoLimit) {
		return nil, err
	}
	if limit := cfg.Budget.shared(); limit != "" {
		return nil, fmt.Errorf("evolve: an Allocator's Budget limits %s: set it on the run around it, which alone keeps it", limit)
	}
	cfg.Journal = nil // the decisions of an arm follow from its rewards; the run around it records its own
	al := &Allocator{a: newAllocation(cfg)}
	for _, arm := range cfg.Arms {
		if s, ok := arm.(Sizer); ok {
			al.calls = max(al.calls, s.Calls())
		}
	}
	al.calls = max(al.calls, 1)
	return al, nil
}

// Step draws an arm and steps it. Once it has a reason to stop, it returns [ErrDone].
func (al *Allocator) Step(ctx context.Context) (Generation, error) { return al.StepN(ctx, al.calls) }

// ErrDone is returned by the Step of an [Allocator] with nothing left to step.
var ErrDone = errors.New("evolve: every arm of the allocator is done, or its budget has run out")

// Calls returns the most calls that a Step can make: those of its largest arm.
func (al *Allocator) Calls() int { return al.calls }

// StepN is Step with at most n calls.
func (al *Allocator) StepN(ctx context.Context, n int) (Generation, error) {
	parent := al.Best()
	gen := Generation{Index: al.steps + 1, Parent: parent, Best: parent, Partial: true}
	f, ok := al.a.draw(ctx, ctx, n)
	if !ok {
		return gen, al.why(ctx)
	}
	al.steps++
	inner, err := f.step(ctx)
	al.a.land(ctx, landing{flight: f, gen: inner, err: err})
	al.a.full = "" // a limit of the run around it, which ends by it, and may go on with a larger one
	inner.Index, inner.Parent, inner.Best = gen.Index, parent, al.Best()
	if err == nil {
		err = al.a.err // the policy's
	}
	return inner, err
}

// why says what kept a step from being drawn.
func (al *Allocator) why(ctx context.Context) error {
	switch {
	case al.a.err != nil:
		return al.a.err
	case ctx.Err() != nil:
		return fmt.Errorf("evolve: %w", context.Cause(ctx))
	}
	return ErrDone
}

// Best returns the best candidate of all arms so far.
func (al *Allocator) Best() eval.Candidate { return al.a.res.Best }

// Done reports whether every arm is done, or the allocator's own budget has run out, or its Target is
// reached.
func (al *Allocator) Done() bool {
	_, any := al.a.open()
	return al.a.stop != "" || !any || al.a.bound() != "" || al.a.cfg.Budget.reached(al.a.res.Best)
}

// Result returns what became of the allocator's arms so far.
func (al *Allocator) Result() *Result {
	res := *al.a.res
	res.Stop, res.Limit = al.a.stop, al.a.limit
	return &res
}
