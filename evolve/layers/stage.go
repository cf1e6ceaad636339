package layers

import (
	"context"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// An order is the policy by which stages follow each other: the arm 0 is stage one, and 1 is stage two. What happened
// decides whose turn it is, so that a resumed run has the same turns.
type order struct{ combining bool }

var _ bandit.Policy = (*order)(nil)

// Probs gives all to the stage whose turn it is.
func (o *order) Probs(p []float64, _ bandit.Round) {
	if o.combining {
		p[1] = 1
	} else {
		p[0] = 1
	}
}

// Update does nothing.
func (o *order) Update(bandit.Pull, float64) {}

// String names the policy.
func (o *order) String() string { return "stages in order" }

// first is stage one. It takes down the bases.
type first struct {
	arm   evolve.Arm
	left  func() int // calls that it may still make
	found *found
}

// Step lets the search go on, and takes down what it made.
func (f *first) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	gen, err := f.arm.Step(ctx, turn)
	f.found.add(gen.Before)
	for _, c := range gen.Children {
		if c.Scored() {
			f.found.add(c.Candidate)
		}
	}
	return gen, err
}

// Start begins the search.
func (f *first) Start(ctx context.Context, turn *evolve.Turn) error {
	if s, ok := f.arm.(evolve.Starter); ok {
		return s.Start(ctx, turn)
	}
	return nil
}

// Best returns the best base.
func (f *first) Best() eval.Candidate { return f.arm.Best() }

// Done reports whether the search is.
func (f *first) Done() bool { return f.arm.Done() }

// Calls returns how many the search's next step would like.
func (f *first) Calls() int { return wanted(f.arm, f.left()) }

// second is stage two. Before its pool is frozen it has no search.
type second struct {
	arm  evolve.Arm
	pool []eval.Candidate
	left func() int // calls that it may still make
}

// Step lets the search go on.
func (s *second) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return s.arm.Step(ctx, turn)
}

// Best returns the best combination.
func (s *second) Best() eval.Candidate {
	if s.arm == nil {
		return eval.Candidate{}
	}
	return s.arm.Best()
}

// Done reports whether the search is done. One that is not made yet is not.
func (s *second) Done() bool { return s.arm != nil && s.arm.Done() }

// Calls returns how many the search's next step would like.
func (s *second) Calls() int { return wanted(s.arm, s.left()) }

// wanted returns how many calls an arm's next step may make. One that does not say is given all there is room for.
func wanted(arm evolve.Arm, left int) int {
	if s, ok := arm.(evolve.Sizer); ok {
		return min(left, s.Calls())
	}
	return left
}
