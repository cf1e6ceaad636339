package eval

import (
	"context"
	"fmt"
)

// ExactPrefix begins the names of metrics that repeat another figure without tolerance: exact_score for Score
// ([ExactScore]), exact_paper_score for the metric paper_score. An evaluator that forgives small violations of a
// constraint adds such a metric where the figures differ by more than rounding. It is 0 if the figure does not exist
// without tolerance.
const ExactPrefix = "exact_"

// ExactScore is the metric that holds Score without tolerance.
const ExactScore = ExactPrefix + "score"

// Strict returns r with its score without tolerance: the metric [ExactScore], or Score if that metric is missing.
func (r Result) Strict() Result {
	if exact, ok := r.Metrics[ExactScore]; ok && r.Valid {
		r.Score = exact
	}
	return r
}

// Exact returns an evaluator with the scores of e without tolerance ([Result.Strict]). As a second evaluator it costs
// nothing: it is a [Composite] with e as its only part, so a run that has evaluated a program with e does not evaluate
// it again.
func Exact(e Evaluator) Evaluator { return exact{e} }

type exact struct{ e Evaluator }

var _ Composite = exact{}

// Evaluate scores program.
func (x exact) Evaluate(ctx context.Context, program string) (Result, error) {
	return Compose(ctx, x, program)
}

// Parts returns the evaluator itself, for that sample.
func (x exact) Parts(_ string, sample int) ([]Evaluator, error) {
	if sample == 0 {
		return []Evaluator{x.e}, nil
	}
	return []Evaluator{sampleOf(x.e, sample)}, nil
}

// Join returns the result without tolerance.
func (x exact) Join(_ string, parts []Result) (Result, error) { return parts[0].Strict(), nil }

// String names the evaluator.
func (x exact) String() string { return fmt.Sprintf("Exact(%s)", nameOf(x.e)) }
