package evolve_test

import (
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// numbered is an arm of one step, and the evaluator that it asks: it scores a program by the number of the sample.
type numbered struct {
	scores []float64
}

func (n *numbered) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return n.EvaluateSample(ctx, program, 0)
}

func (n *numbered) EvaluateSample(_ context.Context, _ string, sample int) (eval.Result, error) {
	return eval.Result{Score: float64(sample), Valid: true}, nil
}

func (n *numbered) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	for sample := range 3 {
		r, err := turn.Evaluate(ctx, eval.Limit(n, 1), "p", sample)
		if err != nil {
			return evolve.Generation{}, err
		}
		n.scores = append(n.scores, r.Score)
	}
	return evolve.Generation{}, nil
}

func (n *numbered) Best() eval.Candidate { return eval.Candidate{} }
func (n *numbered) Done() bool           { return len(n.scores) > 0 }

// An evaluator that keeps results by sample is told the sample, in a run and by hand.
func TestASamplerIsToldTheSample(t *testing.T) {
	for _, step := range []func(n *numbered) error{
		func(n *numbered) error { _, err := n.Step(t.Context(), nil); return err },
		func(n *numbered) error {
			_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{n}, Budget: evolve.Budget{Rounds: 1}})
			return err
		},
	} {
		n := &numbered{}
		if err := step(n); err != nil {
			t.Error(err)
		}
		if len(n.scores) != 3 || n.scores[0] != 0 || n.scores[1] != 1 || n.scores[2] != 2 {
			t.Errorf("scores %v, want 0 1 2", n.scores)
		}
	}
}
