package main

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// TestRun evolves the function for a generation, and ends with one that is not slower by its own
// measure.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), strings.Fields("--T 1 --N 3 --seed 1"), &out); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`speed times ([0-9.]+), at first ([0-9.]+):\n(?s:.*)package throwaway`).FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("printed %s", &out)
	}
	best, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	if first, err := strconv.ParseFloat(found[2], 64); err != nil || first <= 0 || best < first {
		t.Errorf("from %v to %v, %v", first, best, err)
	}
}

// TestEvaluator has functions scored that are not to be.
func TestEvaluator(t *testing.T) {
	e, err := newEvaluator(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ why, program, said string }{
		{"it does not sort", "package throwaway\nfunc Sort(xs []int) {}", "numbers are not sorted"},
		{"it does not compile", "package throwaway\nfunc Sort(xs []int) { return 1 }", "too many return values"},
		{"it panics", "package throwaway\nfunc Sort(xs []int) { panic(\"score 1e9\") }", "panic: score 1e9"},
	} {
		res, err := e.Evaluate(t.Context(), tt.program)
		if err != nil {
			t.Fatal(err)
		}
		if res.Valid || !strings.HasPrefix(res.Reason, "exited with status 1") || !strings.Contains(res.Artifacts["stderr"], tt.said) {
			t.Errorf("%s: %+.500v, want it invalid, and told of %q", tt.why, res, tt.said)
		}
	}
	if res, err := e.Evaluate(t.Context(), initial); err != nil || !res.Valid || res.Score <= 0 || res.Metrics["microseconds"] <= 0 {
		t.Errorf("the initial function has %+.500v, %v", res, err)
	}
}

func TestBadInput(t *testing.T) {
	t.Setenv("LLM_API_BASE", "nowhere")
	for _, args := range []string{"--T 0", "--N -1", "--seed 4294967296", "--model m", "--model m --api-base http://a/v1,", "--api-base http://a/v1", "--seed x", "more"} {
		var usage *cli.UsageError
		if err := run(t.Context(), strings.Fields(args), &strings.Builder{}); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage error", args, err)
		}
	}
}
