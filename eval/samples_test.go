package eval_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
)

func score(x float64) eval.Result { return eval.Result{Score: x, Valid: true} }

func ExamplePool() {
	r := eval.Pool(eval.Result{Score: 1, Valid: true}, eval.Result{Score: 2, Valid: true},
		eval.Result{Score: 6, Valid: true})
	se, _ := r.SE()
	fmt.Printf("mean %v, sd %.3f, n %d, standard error %.3f\n", r.Score, r.Samples.SD, r.Samples.N, se)
	// Output: mean 3, sd 2.646, n 3, standard error 1.528
}

// Results that are pooled in steps are those that are pooled at once, however they are grouped.
func TestPoolInSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []eval.Result
	for range 12 {
		all = append(all, eval.Result{Score: 1e6 + r.NormFloat64(), Valid: true,
			Metrics: map[string]float64{"m": r.Float64()}, Cases: []float64{r.Float64(), 1}})
	}
	once := eval.Pool(all...)
	steps := eval.Pool(all[0], eval.Pool(all[1:5]...), eval.Pool(eval.Pool(all[5:7]...), eval.Pool(all[7:]...)))
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-8 })
	if diff := cmp.Diff(once, steps, near); diff != "" {
		t.Errorf("pooled in steps: %s", diff)
	}
	if once.N() != 12 || len(once.Samples.Scores) != 12 || math.Abs(once.Samples.SD-1) > 0.6 {
		t.Errorf("%+v", once.Samples)
	}
}

func TestPoolOfUnlikeResults(t *testing.T) {
	bad := eval.Invalid("crashed")
	for _, tt := range []struct {
		reason string
		of     []eval.Result
		want   eval.Result
	}{
		{"one is as it is, and its spread is not known", []eval.Result{score(3)}, score(3)},
		{"invalid once is bad", []eval.Result{score(3), bad, eval.Invalid("later")}, bad},
		{"cases that do not fit are left out, and a metric is the mean of those that have it",
			[]eval.Result{{Score: 1, Valid: true, Cases: []float64{1}, Metrics: map[string]float64{"a": 4}}, score(3)},
			eval.Result{Score: 2, Valid: true, Metrics: map[string]float64{"a": 4},
				Samples: &eval.Samples{N: 2, SD: math.Sqrt2, Scores: []float64{1, 3}}}},
	} {
		if diff := cmp.Diff(tt.want, eval.Pool(tt.of...)); diff != "" {
			t.Errorf("%s: %s", tt.reason, diff)
		}
	}
}

// A candidate, or an evaluator, may return any samples. None that JSON cannot hold, or that are none, are kept.
func TestCleanSamples(t *testing.T) {
	for _, s := range []*eval.Samples{{N: 2, SD: math.NaN()}, {N: 2, SD: -1}, {N: 1},
		{N: 2, SD: 1, Scores: []float64{math.Inf(1)}}} {
		r := score(1)
		if r.Samples = s; r.Clean().Samples != nil {
			t.Errorf("%+v is kept", s)
		}
	}
	r := score(1)
	r.Samples = &eval.Samples{N: 2 * eval.MaxCases, SD: 1, Scores: make([]float64, 2*eval.MaxCases)}
	if c := r.Clean(); len(c.Samples.Scores) != eval.MaxCases || c.N() != 2*eval.MaxCases {
		t.Errorf("%d scores of %d are kept", len(c.Samples.Scores), c.N())
	}
	c := r.Clone()
	if c.Samples.Scores[0] = 7; r.Samples.Scores[0] == 7 {
		t.Error("a clone shares its scores")
	}
	if r.Size() < 8*2*eval.MaxCases {
		t.Errorf("Size is %d", r.Size())
	}
}

// counting scores 1, 2, 3, ... in the order of its evaluations.
func counting(n *atomic.Int64) eval.Func {
	return func(context.Context, string) (eval.Result, error) { return score(float64(n.Add(1))), nil }
}

// pointer is an evaluator that can be compared.
type pointer struct{ eval.Evaluator }

func (p *pointer) String() string { return fmt.Sprint(p.Evaluator) }

func ExampleRepeat() {
	var n atomic.Int64
	e := eval.Repeat(eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{Score: float64(n.Add(1)), Valid: true}, nil
	}), 4)
	r, _ := e.Evaluate(context.Background(), "program")
	fmt.Println(r.Score, r.Samples.N, e)
	// Output: 2.5 4 Repeat(eval.Func, 4)
}

// The parts of a Repeat are told apart by sample, also where it is repeated itself.
func TestPartsOfRepeat(t *testing.T) {
	var n atomic.Int64
	one := &pointer{counting(&n)}
	seen := map[eval.Evaluator]bool{}
	names := map[string]bool{}
	var walk func(e eval.Evaluator, sample int)
	walk = func(e eval.Evaluator, sample int) {
		c, ok := e.(eval.Composite)
		if !ok {
			seen[e], names[fmt.Sprint(e)] = true, true
			return
		}
		parts, err := c.Parts("p", sample)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			walk(p, 0)
		}
	}
	twice := eval.Limit(eval.Repeat(eval.Repeat(one, 3), 2), 1)
	for range 2 {
		walk(twice, 0)
	}
	walk(twice, 5)
	if len(seen) != 12 || len(names) != 12 {
		t.Errorf("%d values and %d names of 12 samples: %v", len(seen), len(names), names)
	}
}

func ExampleZScore() {
	var n atomic.Int64
	noisy := eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		return eval.Result{Score: float64(len(program)) + float64(n.Add(1)%2), Valid: true}, nil
	})
	z, err := eval.ZScore(context.Background(), noisy, "seed", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, _ := z.Evaluate(context.Background(), "a program")
	fmt.Printf("mean %.1f, sd %.3f: a score of %v is z = %.2f\n", z.Mean, z.SD, r.Metrics["score_raw"], r.Score)
	// Output: mean 4.5, sd 0.513: a score of 10 is z = 10.72
}

func TestZScoreRefuses(t *testing.T) {
	flat := eval.Func(func(context.Context, string) (eval.Result, error) { return score(2), nil })
	broken := eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Invalid("does not compile"), nil
	})
	gone := eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{}, context.DeadlineExceeded
	})
	var asked atomic.Int64
	huge := eval.Func(func(context.Context, string) (eval.Result, error) {
		return score(1e200 * float64(1-asked.Add(1)%2*2)), nil
	})
	for _, tt := range []struct {
		e    eval.Evaluator
		n    int
		want string
	}{
		{flat, 0, "20 evaluations of the seed program all score 2"},
		{broken, 3, "does not compile"},
		{gone, 3, "deadline exceeded"},
		{flat, 1, "ZScore of 1 copies"},
		{huge, 4, "too large"},
	} {
		if _, err := eval.ZScore(t.Context(), tt.e, "seed", tt.n); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	if _, err := (&eval.Scale{Of: flat}).Evaluate(t.Context(), "p"); err == nil {
		t.Error("a Scale without a standard deviation evaluates")
	}
}

// Scaling is affine in all that is a score, and the order of programs stays.
func TestScaleIsAffine(t *testing.T) {
	var n atomic.Int64
	e := eval.Func(func(context.Context, string) (eval.Result, error) {
		r := eval.Pool(score(float64(n.Add(1))), score(10))
		r.Cases = []float64{r.Score, 3}
		return r, nil
	})
	z := &eval.Scale{Of: e, Mean: 3, SD: 2}
	r, err := z.Evaluate(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	want := eval.Result{Score: 1.25, Valid: true, Metrics: map[string]float64{"score_raw": 5.5}, Cases: []float64{1.25, 0},
		Samples: &eval.Samples{N: 2, SD: math.Sqrt(40.5) / 2, Scores: []float64{-1, 3.5}}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if bad, err := (&eval.Scale{Of: eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Invalid("no"), nil
	}), SD: 1}).Evaluate(t.Context(), "p"); err != nil || bad.Valid || bad.Score != 0 {
		t.Errorf("an invalid program: %+v, %v", bad, err)
	}
}
