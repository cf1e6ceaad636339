package eval

import (
	"context"
	"fmt"
)

// Repeat returns an Evaluator that evaluates each program n times with e and pools the results ([Pool]): the score is
// the mean, and its standard error that of one evaluation divided by √n.
//
// It is a [Composite], so in a run each of the n is an evaluation of its own: recorded, counted, and made once.
// Rescoring only promising children spends evaluations better than evaluating every child n times; see docs/guide.md.
// Repeat panics if n < 1.
func Repeat(e Evaluator, n int) Evaluator {
	if n < 1 {
		panic(fmt.Sprintf("eval: Repeat of %d evaluations: need at least 1", n))
	}
	return &repeated{e, n}
}

type repeated struct {
	e Evaluator
	n int
}

var _ Composite = (*repeated)(nil)

// Evaluate evaluates program n times, several at once.
func (r *repeated) Evaluate(ctx context.Context, program string) (Result, error) {
	return Compose(ctx, r, program)
}

// Parts returns the samples sample·n to sample·n + n − 1.
func (r *repeated) Parts(_ string, sample int) ([]Evaluator, error) {
	parts := make([]Evaluator, r.n)
	for i := range parts {
		parts[i] = sampleOf(r.e, sample*r.n+i)
	}
	return parts, nil
}

// Join pools the samples.
func (r *repeated) Join(_ string, parts []Result) (Result, error) { return Pool(parts...), nil }

// String names the evaluator and how often it is asked.
func (r *repeated) String() string { return fmt.Sprintf("Repeat(%s, %d)", nameOf(r.e), r.n) }
