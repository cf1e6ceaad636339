package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// TestReplay goes through the recording with small arrays: says who wrote it, catches the step that is wrong, and ends
// with a function that is faster. Which one that is, and by how much, is for a quiet machine and larger arrays.
func TestReplay(t *testing.T) {
	if _, err := python.Find(t.Context(), "numpy"); err != nil {
		notrun.Say("examples/speed", "the example", err, "install python3 and python3-numpy")
		notrun.Skip(t)
	}
	var out strings.Builder
	if err := run(t.Context(), strings.Fields("--replay --size 300000 --pairs 3 --copies 2 --again 2 --hints"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no model wrote them", `(?m)^2 copies of the first function: speed-up [0-9.]+, sd [0-9.]+$`,
		`invalid: answered wrongly: number 0 of 300000`, `(?m)^the same scale again: --scale [0-9.]+,[0-9.e-]+$`, `(?m)^on (8 fresh samples: z = |a fresh sample it is invalid: )`, `(?s)the best function, z = .*def f\(x, out\)`, `again 2: (invalid: |.* other copies)`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%q is missing in %s", want, &out)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Setenv("LLM_API_BASE", "nowhere")
	for _, args := range []string{"", "--replay --model m", "--replay --api-base http://a/v1", "--replay --copies 1", "--replay --size 0",
		"--replay --seed 4294967296", "--replay --T 0", "--replay --scale 1", "--replay --scale 1,0", "--replay --scale NaN,1", "--model m", "--replay more"} {
		var usage *cli.UsageError
		if err := run(t.Context(), strings.Fields(args), &strings.Builder{}); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage error", args, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := python.Find(t.Context(), "numpy"); err == nil {
		t.Skip("Python with NumPy is found without a PATH")
	}
	if err := run(t.Context(), []string{"--replay"}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "needs Python with NumPy") {
		t.Errorf("without Python: %v", err)
	}
}
