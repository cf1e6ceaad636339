package task_test

import (
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
)

// numbered scores a program by the number of the sample.
type numbered struct{}

func (n numbered) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return n.EvaluateSample(ctx, program, 0)
}

func (numbered) EvaluateSample(_ context.Context, _ string, sample int) (eval.Result, error) {
	return eval.Result{Score: float64(sample), Valid: true}, nil
}

// A run asks a task for its samples. A task that kept the number to itself would have noise averaged that is always the
// same.
func TestTasksPassTheSampleOn(t *testing.T) {
	plain, err := task.New(task.Spec{Name: "t", Initial: "p", Evaluator: numbered{}})
	if err != nil {
		t.Fatal(err)
	}
	hints := task.HintsFunc(func(string) ([]task.Hint, error) { return nil, nil })
	for _, of := range []task.Task{plain, task.WithHints(plain, hints), task.WithEvaluator(plain, eval.Limit(plain, 1))} {
		if r, err := eval.EvaluateSample(t.Context(), of, "p", 3); err != nil || r.Score != 3 {
			t.Errorf("%v: %v, %v, want sample 3", of, r.Score, err)
		}
	}
}
