package eval

import (
	"context"
	"fmt"
)

// ExactPrefix begins the name of a metric that says what another figure would be if no tolerance were granted: exact_score
// is that of Score ([ExactScore]), exact_paper_score that of the metric paper_score. An evaluator that forgives what
// breaks a constraint by little adds one where it differs by more than rounding. It is 0 where the figure vanishes.
const ExactPrefix = "exact_"

// ExactScore is the metric of what Score would be without a tolerance.
const ExactScore = ExactPrefix + "score"

// Strict returns r with the score that it has without a tolerance: its metric [ExactScore], or Score as it is where that
// is missing.
func (r Result) Strict() Result {
	if exact, ok := r.Metrics[ExactScore]; ok && r.Valid {
		r.Score = exact
	}
	return r
}

// Exact returns the evaluator whose scores are those of e without a tolerance ([Result.Strict]). It is a second evaluator
// that costs nothing: it is a [Composite] with e as its one part, so a run that has evaluated a program with e does not
// evaluate it again.
func Exact(e Evaluator) Evaluator { return exact{e} }

type exact struct{ e Evaluator }

var _ Composite = exact{}

// Evaluate scores program.
func (x exact) Evaluate(ctx context.Context, program string) (Result, error) {
	return Compose(ctx, x, program)
}

// Parts returns the evaluator itself, or as the sample.
func (x exact) Parts(_ string, sample int) ([]Evaluator, error) {
	if sample == 0 {
		return []Evaluator{x.e}, nil
	}
	return []Evaluator{sampleOf(x.e, sample)}, nil
}

// Join returns the result without a tolerance.
func (x exact) Join(_ string, parts []Result) (Result, error) { return parts[0].Strict(), nil }

// String names the evaluator.
func (x exact) String() string { return fmt.Sprintf("Exact(%s)", nameOf(x.e)) }
