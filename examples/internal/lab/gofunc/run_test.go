package gofunc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/timing"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

// TestRun evolves the function for a generation, and ends with one that is not slower by its own
// measure.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := Run(t.Context(), strings.Fields("--T 1 --N 1 --seed 1 --hints"), &out); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`speed times ([0-9.]+), which by itself has ([0-9.]+):\n(?s:.*)package sorting`).FindStringSubmatch(out.String())
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

// TestTune finds a speed-up without a model. The ratio is that of two functions which are called in turn. A machine that
// does much else may spoil one search all the same, and hardly five.
func TestTune(t *testing.T) {
	notrun.Long(t, "TestRun, and the tests of evolve/population/tune")
	var last string
	for range 5 {
		var out strings.Builder
		if err := Run(t.Context(), strings.Fields("--tune 16 --seed 1"), &out); err != nil {
			t.Fatal(err)
		}
		last = out.String()
		best, fresh, sd, tried := tuned(t, last)
		if tried < 9 || tried > 16 {
			t.Fatalf("%d tune evaluations, in %s", tried, last)
		}
		// The bound of the best, less what the mean of eight samples may be off by.
		if se := sd / math.Sqrt(8); best >= 1.3 && fresh >= max(1.1, 1.3-2*se) {
			return
		}
	}
	t.Errorf("the speed is not better by 1.3, in %s", last)
}

// tuned reads what a run says of its best: its score, that on fresh samples and their standard deviation, and how many
// programs were timed.
func tuned(t *testing.T, out string) (best, fresh, sd float64, tried int) {
	t.Helper()
	found := regexp.MustCompile(`(?s)speed times ([0-9.]+), which .*on 8 fresh samples: ([0-9.]+), sd ([0-9.]+)\n([0-9]+) programs were timed .* called 0 times`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("printed %s", out)
	}
	if _, err := fmt.Sscan(strings.Join(found[1:], " "), &best, &fresh, &sd, &tried); err != nil {
		t.Fatalf("%v, in %s", err, out)
	}
	return best, fresh, sd, tried
}

// TestTask has functions scored: those that are wrong, and the first one with a threshold that suits it, which is faster,
// and with one that does not.
func TestTask(t *testing.T) {
	notrun.Long(t, "TestRun, and TestScores of task/gofunc")
	machine, err := timing.NewMachine(timing.MachineConfig{})
	if err != nil {
		t.Fatal(err)
	}
	sorting, err := newTask(t.Context(), machine, t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ why, program, said string }{
		{"it does not sort", "package sorting\nfunc Sort(xs []int) {}", "numbers are not sorted"},
		{"it does not compile", "package sorting\nfunc Sort(xs []int) { return 1 }", "too many return values"},
		{"it panics", "package sorting\nfunc Sort(xs []int) { panic(\"score 1e9\") }", "panic: score 1e9"},
	} {
		res, err := sorting.Evaluate(t.Context(), tt.program)
		if err != nil {
			t.Fatal(err)
		}
		if res.Valid || !strings.HasPrefix(res.Reason, "exited with status 1") ||
			!strings.Contains(res.Artifacts["stderr"], tt.said) {
			t.Errorf("%s: %+.500v, want it invalid, and told of %q", tt.why, res, tt.said)
		}
	}
	// The first function has a threshold of 3000. How much faster 20 is depends on the machine: about twice. On every one
	// the work grows with the threshold, so 20 is far more than twice as fast as 12000.
	score := func(threshold string) (score, se float64) {
		t.Helper()
		res, err := sorting.Evaluate(t.Context(), strings.Replace(initial, "threshold = 3000", "threshold = "+threshold, 1))
		if err != nil || !res.Valid {
			t.Fatalf("with a threshold of %s the function has %+.500v, %v", threshold, res, err)
		}
		return res.Score, res.Metrics["sd"] / math.Sqrt(res.Metrics["pairs"])
	}
	var fast, fastError, slow, slowError float64
	for range 10 { // a machine that does much else may spoil one measurement, and hardly ten
		fast, fastError = score("20")
		slow, slowError = score("12000")
		if fast >= 1+fastError && slow <= 1-slowError && fast >= 2*slow {
			return
		}
	}
	t.Errorf("thresholds of 20 and 12000 have the first function's speed times %v and %v, with standard errors of %v and %v",
		fast, slow, fastError, slowError)
}

// Without flags a short search is made, which says so. Stopped, it says that it is incomplete.
func TestWithoutFlags(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &runtest.Stopper{At: "generation ", Stop: cancel}
	err := Run(ctx, nil, out)
	for _, want := range []string{"short study: " + cli.Typed("gofunc") + " " + quickFlags + "\n",
		"whole study: " + cli.Typed("gofunc") + " " + wholeFlags, "stopped; the search is incomplete, after 0 of 3 calls"} {
		if !errors.Is(err, cli.ErrCanceled) && !errors.Is(err, context.Canceled) || !strings.Contains(out.String(), want) {
			t.Errorf("%v, want %q in\n%s", err, want, out)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Setenv("LLM_API_BASE", "nowhere")
	for _, args := range []string{"--T 0", "--N -1", "--tune 9", "--tune -1", "--seed 4294967296", "--model m",
		"--model m --api-base http://a/v1,", "--api-base http://a/v1", "--seed x", "more"} {
		var usage *cli.UsageError
		if err := Run(t.Context(), strings.Fields(args), &strings.Builder{}); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage error", args, err)
		}
	}
}
