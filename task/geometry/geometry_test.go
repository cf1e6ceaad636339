package geometry_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// The values that the programs of the paper start from, to the last digit: cp and mmd from the same
// computations in numpy. By the papers' rule cp starts at cpPaper.
const (
	cpPaper  = 0.36423689449571406
	cpStart  = 0.36410092663544474
	mmdStart = 0.007840993143994491
)

func TestInitialPrograms(t *testing.T) {
	r, err := js.New(js.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    geometry.Problem
		want float64
	}{
		{geometry.CirclePacking(), cpStart},
		{geometry.MinMaxDistance(), mmdStart},
		{geometry.Heilbronn(), 0},
	} {
		t.Run(c.p.Key, func(t *testing.T) {
			task, err := c.p.Task(r, "javascript")
			if err != nil {
				t.Fatal(err)
			}
			got, err := task.Evaluate(context.Background(), task.Initial())
			if err != nil {
				t.Fatal(err)
			}
			if !got.Valid || math.Abs(got.Score-c.want) > 1e-14 {
				t.Errorf("the initial program has %+v, want a score of %v", got, c.want)
			}
			if paper := got.Metrics["paper_score"]; c.p.Key == "cp" && math.Abs(paper-cpPaper) > 1e-14 {
				t.Errorf("by the papers' rule it has %v, want %v", paper, cpPaper)
			}
		})
	}
}

func TestTask(t *testing.T) {
	r := runnerFunc(func(context.Context, string, string) (json.RawMessage, error) { return nil, nil })
	for _, p := range geometry.Problems() {
		for language, ext := range map[string]string{"javascript": ".js", "python": ".py"} {
			task, err := p.Task(r, language)
			if err != nil {
				t.Fatal(err)
			}
			if task.Name() != p.Key || !strings.Contains(task.Initial(), p.Entry+"()") {
				t.Errorf("%s in %s: task %q whose initial program lacks %s", p.Key, ext, task.Name(), p.Entry)
			}
			if !strings.Contains(p.System, "function "+p.Entry+" ") {
				t.Errorf("%s: the system message does not name %s", p.Key, p.Entry)
			}
		}
		if _, err := p.Task(r, "cobol"); err == nil || !strings.Contains(err.Error(), `"cobol": have javascript, python`) {
			t.Errorf("%s in an unknown language: error %v, want the known ones", p.Key, err)
		}
	}
}

// encode returns v as JSON.
func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// valid returns the score of output, which must be valid.
func valid(t *testing.T, p geometry.Problem, output string) float64 {
	t.Helper()
	r := p.Score([]byte(output))
	if !r.Valid || r.Reason != "" {
		t.Fatalf("%.100s is invalid: %s", output, r.Reason)
	}
	return r.Score
}

// invalid checks that output is invalid for a reason that contains want.
func invalid(t *testing.T, p geometry.Problem, output, want string) {
	t.Helper()
	r := p.Score([]byte(output))
	if r.Valid || r.Score != 0 || !strings.Contains(r.Reason, want) {
		t.Errorf("%.100s: valid %v, score %v, reason %q; want it invalid because of %q", output, r.Valid, r.Score, r.Reason,
			want)
	}
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %v, want %v within %g", what, got, want, within)
	}
}

type runnerFunc func(ctx context.Context, program, entry string) (json.RawMessage, error)

func (f runnerFunc) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	return f(ctx, program, entry)
}
