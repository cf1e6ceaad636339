package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// The summary tells of replicas, however deep in the model's stack the pool is.
func TestSummaryOfReplicas(t *testing.T) {
	answer := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "a", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	for _, tt := range []struct{ bases, reason string }{
		{"http://a/v1,http://b/v1", "a row for each of several"},
		{"http://a/v1", "none for one"},
	} {
		model, err := Endpoints(tt.bases, 4, func(string) (llm.LLM, error) { return answer, nil })
		if err != nil {
			t.Fatal(err)
		}
		model = llm.Retry(llm.Limit(model, 4), llm.RetryConfig{})
		if _, err := model.Generate(t.Context(), llm.Request{}); err != nil {
			t.Fatal(err)
		}
		got := runtest.Output(t, func() {
			(&Options{T: 1, N: 1}).Summarize(model, nil, &evolve.Result{}, result.Cost{}, nil)
		})
		for _, base := range strings.Split(tt.bases, ",") {
			if said, several := strings.Contains(got, base), strings.Contains(tt.bases, ","); said != several {
				t.Errorf("%s: %s told of %v: %s", tt.reason, base, said, got)
			}
		}
	}
}

// The calls that score held-out cases are told, as they are in no budget.
func TestHeldOutCallsAreTold(t *testing.T) {
	answer := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "a", Attempts: []llm.Attempt{{Status: llm.OK,
			Usage: &llm.Usage{PromptTokens: 30, CompletionTokens: 4}}}}, nil
	})
	plain, err := task.New(task.Spec{Name: "t", Initial: "p", Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	best := eval.Candidate{Program: "p", Result: eval.Result{Valid: true, Score: 1}}
	got := runtest.Output(t, func() { scoreHeldOut(t, t.Context(), asking{plain, answer}, best) })
	if want := "to score held-out cases asked 3 calls, 102 tokens: they are beside the budget"; !strings.Contains(got,
		want) {
		t.Errorf("printed %q, want %q in it", got, want)
	}
}

// scoreHeldOut scores best as that of a run without a journal.
func scoreHeldOut(t *testing.T, ctx context.Context, of task.Task, best eval.Candidate) {
	t.Helper()
	var h *result.HeldOut
	f := &Files{task: of, begun: true, o: &Options{}}
	file := Saved{Body: map[string]int{}, HeldOut: &h}
	if err := f.scoreHeldOut(ctx, filepath.Join(t.TempDir(), "r.json"), file, &evolve.Result{Best: best}); err != nil {
		t.Error(err)
	}
}

// asking is a task that asks a model three times to score held-out cases.
type asking struct {
	task.Task
	l llm.LLM
}

func (a asking) HeldOut(ctx context.Context, _ string) (eval.Result, error) {
	for range 3 {
		if _, err := llm.Ask(ctx, a.l, llm.Request{}); err != nil {
			return eval.Result{}, err
		}
	}
	return eval.Result{Valid: true, Score: 0.5}, nil
}

// keeper is a task that keeps cases from the search.
type keeper struct {
	task.Task
	result eval.Result
	err    error
}

func (k keeper) HeldOut(context.Context, string) (eval.Result, error) { return k.result, k.err }

// The score on what the search did not see is told beside the other, and nothing where there is none.
func TestHeldOut(t *testing.T) {
	best := eval.Candidate{Program: "p", Result: eval.Result{Valid: true, Score: 1}}
	plain, err := task.New(task.Spec{Name: "t", Initial: "p", Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	good := eval.Candidate{Program: "p", Result: eval.Result{Valid: true, Score: 1, Cases: []float64{1, 1, 1, 1, 1}}}
	mixed := eval.Result{Valid: true, Score: 0.4, Cases: []float64{0, 0.5, 0.5, 0.5, 0.5}}
	for _, tt := range []struct {
		ctx    context.Context
		of     task.Task
		best   eval.Candidate
		want   string
		reason string
	}{
		{t.Context(), keeper{plain, eval.Result{Valid: true, Score: 0.5, Metrics: map[string]float64{"b": 2, "a": 1}}, nil},
			best, "held out: 0.500000 (a 1, b 2)\n\n", "a score and what else was found"},
		{t.Context(), task.WithEvaluator(keeper{plain, eval.Result{Valid: true, Score: 0.5}, nil}, plain), best,
			"held out: 0.500000\n\n", "of a task that is wrapped"},
		{t.Context(), keeper{plain, eval.Invalid("throws"), nil}, best, "held out: invalid: throws\n\n", "it may fail there"},
		{t.Context(), keeper{plain, eval.Result{}, errors.New("no interpreter")}, best,
			"held out: no interpreter\n\nheld-out cases are not all scored, and without a journal the run cannot go on with them\n", "that evaluation failed does not hide the result"},
		{t.Context(), keeper{plain, mixed, nil}, good,
			"held out: 0.400000, searched − held out 0.600000 (95 % interval 0.322355 to 0.877645)\n\n" +
				"warning: the held-out score 0.4 is lower than the searched score 1 by more than chance explains: the gap is 0.6, 95 % interval 0.322355 to 0.877645 (Welch's t over 5 and 5 cases). The program fits the cases that it was scored on better than others like them\n\n", "what was fitted to the cases is told in words"},
		{t.Context(), plain, best, "", "a task without such cases"},
		{ended, keeper{plain, eval.Result{Valid: true}, nil}, best, "", "the run was canceled"},
		{t.Context(), keeper{plain, eval.Result{Valid: true}, nil}, eval.Candidate{}, "", "there is no valid program"},
	} {
		if got := runtest.Output(t, func() { scoreHeldOut(t, tt.ctx, tt.of, tt.best) }); got != tt.want {
			t.Errorf("printed %q, want %q: %s", got, tt.want, tt.reason)
		}
	}
}
