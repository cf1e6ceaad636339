package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

// printed runs the example and returns what it prints, and the error that it ends in.
func printed(ctx context.Context, t *testing.T, args string) (text string, err error) {
	t.Helper()
	text = runtest.Output(t, func() { err = runBandit(ctx, strings.Fields(args)) })
	return text, err
}

// byWorkers returns how many evaluations workers made in a run that printed text, 0 if they had no part in it.
func byWorkers(t *testing.T, text string) (n int) {
	t.Helper()
	if !strings.Contains(text, `programs are scored by workers of the task "cp"`) {
		return 0
	}
	_, line, _ := strings.Cut(text, " slots at the end; ")
	if _, err := fmt.Sscanf(line, "%d evaluations", &n); err != nil {
		t.Fatalf("%q in %s: %v", line, text, err)
	}
	return n
}

// Scored through a queue, a run is the one that it is without.
func TestRunThroughAQueue(t *testing.T) {
	var scores [2][]float64
	for i, args := range []string{"", " --nats embedded"} {
		dir := t.TempDir()
		text, err := printed(t.Context(), t, "--T 4 --N 8 --n-arms 3 --breadth fixed --offline-latency 0s --output "+dir+args)
		if err != nil {
			t.Fatal(err)
		}
		if n := byWorkers(t, text); n < 20*i || i == 0 && n > 0 {
			t.Errorf("with%s workers made %d evaluations: %s", args, n, text)
		}
		for _, arm := range saved(t, dir, "*.json").ArmResults {
			for _, row := range arm.Trajectory {
				scores[i] = append(scores[i], *row.BestFitness)
			}
		}
	}
	if len(scores[0]) < 5 || !slices.Equal(scores[0], scores[1]) {
		t.Errorf("best scores %v through a queue, %v without", scores[1], scores[0])
	}
	if err := runBandit(t.Context(), strings.Fields("--nats embedded --task text --output "+t.TempDir())); err == nil ||
		!strings.Contains(err.Error(), "key stays") {
		t.Errorf("a task that asks a model: %v", err)
	}
}

// A run that was begun without workers goes on with them, and the other way round, and comes to the result of one that
// was never stopped.
func TestResumeThroughAQueue(t *testing.T) {
	const args, queue = "--model qwen3-8b --strict --T 5 --N 8 --n-arms 3 --breadth fixed --grace 0s --api-base ",
		" --nats embedded"
	whole := t.TempDir()
	undisturbed, _ := editing(t, 0)
	if err := runBandit(t.Context(), strings.Fields(args+undisturbed.URL+" --output "+whole)); err != nil {
		t.Fatal(err)
	}
	want := saved(t, whole, "*.json")
	for _, tt := range []struct{ before, after string }{{"", queue}, {queue, ""}} {
		srv, stop := editing(t, 25)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		*stop = cancel
		again := args + srv.URL + " --output " + t.TempDir()
		first, err := printed(ctx, t, again+tt.before)
		if !errors.Is(err, cli.ErrCanceled) {
			t.Fatalf("begun with%s: error %v", tt.before, err)
		}
		second, err := printed(t.Context(), t, again+" --resume"+tt.after)
		if err != nil {
			t.Fatalf("resumed with%s: %v", tt.after, err)
		}
		for text, queued := range map[string]bool{first: tt.before == queue, second: tt.after == queue} {
			if n := byWorkers(t, text); (n > 0) != queued {
				t.Errorf("workers made %d evaluations, and have a part: %v: %s", n, queued, text)
			}
		}
		got := saved(t, again[strings.LastIndex(again, " ")+1:], "*.json")
		if !slices.Equal(want.Selections, got.Selections) || !slices.Equal(want.Rewards, got.Rewards) ||
			got.FinalFitness != want.FinalFitness || got.Stop != string(evolve.StopBudget) {
			t.Errorf("begun with%s and resumed with%s: %v with %v, want %v with %v", tt.before, tt.after, got.Selections,
				got.Rewards, want.Selections, want.Rewards)
		}
	}
}
