package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// kept is a task that scores held-out cases.
type kept struct {
	task.Task
	heldOut func(ctx context.Context, program string) (eval.Result, error)
}

func (k kept) HeldOut(ctx context.Context, program string) (eval.Result, error) {
	return k.heldOut(ctx, program)
}

// scores is a valid result of cases.
func scores(cases ...float64) eval.Result {
	sum := 0.0
	for _, c := range cases {
		sum += c
	}
	return eval.Result{Valid: true, Score: sum / float64(len(cases)), Cases: cases}
}

// The intervals are worked out by hand: means, variances over n−1, and the quantiles of
// Student's t from tables.
func TestGap(t *testing.T) {
	for _, tt := range []struct {
		searched, held []float64
		low, high      float64
		note           bool
		reason         string
	}{
		// s² = 2.5 and 2.5, n = 5: the error is 1, there are 8 degrees of freedom, t = 2.306004.
		{[]float64{1, 2, 3, 4, 5}, []float64{0, 1, 2, 3, 4}, 1 - 2.306004, 1 + 2.306004, false, "equal variances"},
		{[]float64{4, 5, 6, 7, 8}, []float64{0, 1, 2, 3, 4}, 4 - 2.306004, 4 + 2.306004, true, "the same, further apart"},
		// s² = 0 and 2.5: the error is √0.5, there are 4 degrees of freedom, t = 2.776445.
		{[]float64{5, 5, 5, 5, 5}, []float64{1, 2, 3, 4, 5}, 2 - 2.776445*math.Sqrt(0.5), 2 + 2.776445*math.Sqrt(0.5), true,
			"no variance on one side"},
		{[]float64{1, 1, 1, 1, 1}, []float64{0, 0, 0, 0, 0, 0}, 1, 1, true, "no variance at all"},
		{same(1/60., 31), same(1/60., 5), 0, 0, false, "equal scores, whose computed means differ in the last digit"},
		{[]float64{0, 1, 2, 3, 4}, []float64{4, 5, 6, 7, 8}, -4 - 2.306004, -4 + 2.306004, false,
			"a held-out score may be higher"},
	} {
		of := kept{heldOut: func(context.Context, string) (eval.Result, error) { return scores(tt.held...), nil }}
		h, err := scoreHeld(t.Context(), of, eval.Candidate{Result: scores(tt.searched...)}, llm.Model{})
		if err != nil || math.Abs(h.Gap.Low-tt.low) > 1e-5 || math.Abs(h.Gap.High-tt.high) > 1e-5 ||
			(h.Note != "") != tt.note {
			t.Errorf("%s: %+v, %q, %v, want %v to %v", tt.reason, h.Gap, h.Note, err, tt.low, tt.high)
		}
	}
}

// same is a score n times.
func same(score float64, n int) (list []float64) {
	for range n {
		list = append(list, score)
	}
	return list
}

// Scores so large or so close that no interval can be computed have none, and the result can be written.
func TestGapOfExtremeScores(t *testing.T) {
	for _, searched := range [][]float64{{1e200, 0, -1e200, 0, 0}, {1e-160, 2e-160, 3e-160, 4e-160, 5e-160},
		{1.7e308, -1.7e308, 0, 0, 0}} {
		of := kept{heldOut: func(context.Context, string) (eval.Result, error) { return scores(1, 1, 1, 1, 1), nil }}
		h, err := scoreHeld(t.Context(), of, eval.Candidate{Result: scores(searched...)}, llm.Model{})
		if err != nil || h.Note != "" {
			t.Errorf("%v: %+v, %v", searched, h, err)
		}
		if h.Gap != nil {
			t.Errorf("%v: an interval %+v", searched, h.Gap)
		}
		if _, err := json.Marshal(h); err != nil {
			t.Errorf("%v: %v", searched, err)
		}
	}
}

// A task that panics when the run is over does not lose the run's result.
func TestHeldOutPanics(t *testing.T) {
	of := kept{heldOut: func(context.Context, string) (eval.Result, error) { panic("broken\nscorer") }}
	h, err := scoreHeld(t.Context(), of, eval.Candidate{Result: scores(1)}, llm.Model{})
	if err == nil || h == nil || !strings.Contains(h.Reason, "panicked: broken") || strings.Contains(h.Reason, "\n") {
		t.Errorf("%+v, %v", h, err)
	}
}

// Where nothing can be told nothing is.
func TestHeldOutWithoutGap(t *testing.T) {
	few := scores(1, 1, 1, 1)
	gone := errors.New("no interpreter")
	for _, tt := range []struct {
		held   eval.Result
		err    error
		want   result.HeldOut
		reason string
	}{
		{scores(0, 0, 0, 0, 0, 0), nil, result.HeldOut{Searched: 1, SearchedCases: 4, Cases: 6}, "too few cases"},
		{eval.Result{Valid: true, Score: 2}, nil, result.HeldOut{Searched: 1, SearchedCases: 4, Score: 2},
			"a score without cases"},
		{eval.Invalid("it throws"), nil, result.HeldOut{Searched: 1, SearchedCases: 4, Reason: "it throws"}, "invalid there"},
		{eval.Result{}, gone, result.HeldOut{Searched: 1, SearchedCases: 4, Reason: "no interpreter"},
			"the evaluation failed"},
	} {
		of := kept{heldOut: func(context.Context, string) (eval.Result, error) { return tt.held, tt.err }}
		h, err := scoreHeld(t.Context(), of, eval.Candidate{Result: few}, llm.Model{})
		if !errors.Is(err, tt.err) || h == nil || fmt.Sprintf("%+v", *h) != fmt.Sprintf("%+v", tt.want) {
			t.Errorf("%s: %+v, %v", tt.reason, h, err)
		}
	}
	if h, err := scoreHeld(t.Context(), kept{}, eval.Candidate{}, llm.Model{}); h != nil || err != nil {
		t.Errorf("an invalid program has %+v, %v", h, err)
	}
}

// What held-out cases ask of a model is told, with its cost.
func TestHeldOutCosts(t *testing.T) {
	model := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Attempts: []llm.Attempt{
			{Status: llm.Failed, Usage: &llm.Usage{PromptTokens: 10}},
			{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 10, CompletionTokens: 2}},
		}}, nil
	})
	of := kept{heldOut: func(ctx context.Context, _ string) (eval.Result, error) {
		for range 3 {
			if _, err := llm.Ask(ctx, model, llm.Request{}); err != nil {
				return eval.Result{}, err
			}
		}
		return scores(1), nil
	}}
	h, err := scoreHeld(t.Context(), of, eval.Candidate{Result: scores(1)},
		llm.Model{Key: "m", ActiveParams: 1000})
	if err != nil || h.Use != (result.Use{Calls: 3, Tokens: history.Tokens{Prompt: 60, Completion: 6}}) ||
		h.FLOPs.WorstCase.TotalFLOPs <= 0 {
		t.Errorf("%+v, %v", h, err)
	}
	if h.FLOPs.WorstCase.OK != 3 {
		t.Errorf("%d attempts with an answer are charged, want 3", h.FLOPs.WorstCase.OK)
	}
}
