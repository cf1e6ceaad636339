package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		why      string
		in, want Result
	}{
		{"a good result stays", Result{Score: 2, Valid: true, Metrics: map[string]float64{"a": 1}},
			Result{Score: 2, Valid: true, Metrics: map[string]float64{"a": 1}}},
		{"a bad result with its reason stays", Invalid("threw %d", 1), Result{Reason: "threw 1"}},
		{"NaN is no score", Result{Score: nan, Valid: true}, Result{Reason: "score is NaN, not a finite number"}},
		{"infinity is no score", Result{Score: inf, Valid: true}, Result{Reason: "score is +Inf, not a finite number"}},
		{"nor below", Result{Score: -inf, Valid: true}, Result{Reason: "score is -Inf, not a finite number"}},
		{"a bad result has no score", Result{Score: 3, Reason: "loops"}, Result{Reason: "loops"}},
		{"a bad result has a reason", Result{}, Result{Reason: "invalid, for no stated reason"}},
		{"a bad result's NaN goes too", Result{Score: nan, Reason: "loops"}, Result{Reason: "loops"}},
		{"metrics are finite", Result{Valid: true, Metrics: map[string]float64{"a": nan, "b": inf, "c": 1}},
			Result{Valid: true, Metrics: map[string]float64{"c": 1}}},
		{"a reason is one line without what a terminal obeys", Result{Reason: "threw\n\x1b]52;c;cm0=\x07\u202eError"},
			Result{Reason: "threw Error"}},
		{"a reason that cannot be seen is none", Result{Reason: "\u200b"}, Result{Reason: "invalid, for no stated reason"}},
		{"cases stay", Result{Valid: true, Cases: []float64{1, 0}}, Result{Valid: true, Cases: []float64{1, 0}}},
		{"a case is a score", Result{Valid: true, Score: 1, Cases: []float64{1, nan}},
			Result{Reason: "case 1 is NaN, not a finite number"}},
		{"a bad result's infinite case goes too", Result{Reason: "loops", Cases: []float64{inf}}, Result{Reason: "loops"}},
		{"no cases are none, as in JSON", Result{Valid: true, Cases: []float64{}}, Result{Valid: true}},
		{"cases are bounded", Result{Valid: true, Cases: make([]float64, MaxCases+1)},
			Result{Valid: true, Cases: make([]float64, MaxCases)}},
		{"artifacts stay", Result{Reason: "r", Artifacts: map[string]string{"log": "x"}},
			Result{Reason: "r", Artifacts: map[string]string{"log": "x"}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			got := c.in.Clean()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBetter(t *testing.T) {
	valid := func(score float64) Candidate { return Candidate{Result: Result{Valid: true, Score: score}} }
	invalid := Candidate{Result: Invalid("loops")}
	for _, c := range []struct {
		why  string
		c, d Candidate
		want bool
	}{
		{"a higher score", valid(2), valid(1), true},
		{"a lower score", valid(1), valid(2), false},
		{"ties are not better", valid(1), valid(1), false},
		{"valid beats invalid at any score", valid(-5), invalid, true},
		{"invalid never beats valid", invalid, valid(-5), false},
		{"two invalid ones", invalid, invalid, false},
	} {
		if got := c.c.Better(c.d); got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

// runner is a Runner that returns what it holds.
type runner struct {
	out string
	err error
}

func (r runner) Run(context.Context, string, string) (json.RawMessage, error) {
	return json.RawMessage(r.out), r.err
}

func (r runner) String() string { return "runner" }

func TestScored(t *testing.T) {
	dead := errors.New("no interpreter")
	for _, c := range []struct {
		why  string
		r    runner
		want Result
		err  error
	}{
		{"output is scored", runner{out: `3`}, Result{Valid: true, Score: 3}, nil},
		{"a score that is not finite is cleaned", runner{out: `-1`}, Result{Reason: "score is NaN, not a finite number"},
			nil},
		{"output that is not what it should be", runner{out: `null`}, Result{Reason: "not a number"}, nil},
		{"a program at fault", runner{err: &ProgramError{Reason: "loops"}}, Result{Reason: "loops"}, nil},
		{"wrapped", runner{err: fmt.Errorf("js: %w", &ProgramError{Reason: "loops",
			Artifacts: map[string]string{"stack": "f"}})}, Result{Reason: "loops", Artifacts: map[string]string{"stack": "f"}},
			nil},
		{"without a reason", runner{err: &ProgramError{}}, Result{Reason: "invalid, for no stated reason"}, nil},
		{"a runner at fault", runner{err: dead}, Result{}, dead},
		{"a canceled run", runner{err: context.Canceled}, Result{}, context.Canceled},
	} {
		t.Run(c.why, func(t *testing.T) {
			e := Scored(c.r, "entry", func(out json.RawMessage) Result {
				var v *float64
				if err := json.Unmarshal(out, &v); err != nil || v == nil {
					return Invalid("not a number")
				}
				if *v < 0 {
					return Result{Valid: true, Score: math.Sqrt(*v)}
				}
				return Result{Valid: true, Score: *v}
			})
			got, err := e.Evaluate(t.Context(), "")
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrappersPrintThemselves(t *testing.T) {
	e := Repeat(Limit(Scored(runner{}, "pack", nil), 4), 2)
	if got, want := fmt.Sprint(e), `Repeat(Limit(Scored(runner, "pack"), 4), 2)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	r := Result{Valid: true, Metrics: map[string]float64{"n": 1}, Cases: []float64{1},
		Artifacts: map[string]string{"log": "a"},
		Samples:   &Samples{N: 2, Scores: []float64{1, 2}}}
	want := r.Clone()
	copied := r.Clone()
	copied.Metrics["n"], copied.Cases[0], copied.Artifacts["log"], copied.Samples.Scores[0] = 99, 99, "b", 99
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("a change to a copy reached the result (-want +got):\n%s", diff)
	}
}
