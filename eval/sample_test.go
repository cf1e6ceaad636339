package eval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// numbered scores a program by the number of the sample.
type numbered struct{}

func (n numbered) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return n.EvaluateSample(ctx, program, 0)
}

func (numbered) EvaluateSample(_ context.Context, _ string, sample int) (eval.Result, error) {
	return eval.Result{Score: float64(sample), Valid: true}, nil
}

func TestASampleGoesThroughALimit(t *testing.T) {
	for _, e := range []eval.Evaluator{numbered{}, eval.Limit(numbered{}, 1)} {
		if r, err := eval.EvaluateSample(t.Context(), e, "p", 3); err != nil || r.Score != 3 {
			t.Errorf("%v: %v, %v, want sample 3", e, r, err)
		}
		if r, err := e.Evaluate(t.Context(), "p"); err != nil || r.Score != 0 {
			t.Errorf("%v: %v, %v, want sample 0", e, r, err)
		}
	}
}

// cases is a Composite whose one part is numbered by the sample.
type cases struct{ numbered }

func (cases) Parts(_ string, sample int) ([]eval.Evaluator, error) {
	return []eval.Evaluator{eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{Score: float64(10 + sample), Valid: true}, nil
	})}, nil
}

func (cases) Join(_ string, parts []eval.Result) (eval.Result, error) { return parts[0], nil }

// The parts take the places of a limited Composite, so the whole may not take one.
func TestASampleOfALimitedComposite(t *testing.T) {
	if r, err := eval.EvaluateSample(t.Context(), eval.Limit(cases{}, 1), "p", 3); err != nil || r.Score != 13 {
		t.Errorf("%v, %v, want the part of sample 3", r, err)
	}
}

// The samples that are pooled are different ones.
func TestRepeatAsksForItsSamples(t *testing.T) {
	if r, err := eval.EvaluateSample(t.Context(), eval.Repeat(numbered{}, 3), "p", 0); err != nil || r.Score != 1 ||
		r.N() != 3 {
		t.Errorf("%+v, %v, want the mean of 0, 1 and 2", r, err)
	}
}

func ExampleEvaluateSample() {
	r, err := eval.EvaluateSample(context.Background(), numbered{}, "program", 2)
	fmt.Println(r.Score, err)
	// Output: 2 <nil>
}
