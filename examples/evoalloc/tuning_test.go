package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

// Stopped, the comparison keeps the lines of the tasks that it has, and says which is not complete.
func TestTuningCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &runtest.Stopper{At: "\nsine ", Stop: cancel}
	err := runTuning(ctx, strings.Fields("--tasks sine,rings --runs 6 --calls 8 --tune 8"), out)
	if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out.String(),
		"stopped; rings is incomplete, after 0 of 6 runs of each search") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// Without flags a short study is played, which says so and how to play the whole one.
func TestTuningWithoutFlags(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	err := runTuning(ctx, nil, &out)
	for _, want := range []string{"short study: " + cli.Typed("tuning") + " " + quickTuning + "\n",
		"whole study: " + cli.Typed("tuning") + " " + wholeTuning, "stopped"} {
		if !errors.Is(err, cli.ErrCanceled) || !strings.Contains(out.String(), want) {
			t.Errorf("%v, want %q in\n%s", err, want, &out)
		}
	}
	var usage *cli.UsageError
	for _, args := range []string{"--runs 5", "--calls 3", "--tune 0", "--tasks nope", "more", "--seed x"} {
		if err := runTuning(t.Context(), strings.Fields(args), &out); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage error", args, err)
		}
	}
}
