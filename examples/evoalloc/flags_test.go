package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Flags that would have no effect or are out of range are refused before anything is begun, by their own names.
func TestRefusedFlags(t *testing.T) {
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "a.go"), []byte("package a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	study := func(run func(context.Context, []string, io.Writer) error) func(context.Context, []string) error {
		return func(ctx context.Context, args []string) error { return run(ctx, args, io.Discard) }
	}
	out := "--output " + t.TempDir() + " "
	own := out + "--model qwen3-8b --api-base http://localhost:1/v1 "
	for _, tt := range []struct {
		run        func(context.Context, []string) error
		args, says string
	}{
		{runPopulations, own + "--agent loop --agent-only --tune 5", "--tune has no effect with --agent-only"},
		{runGreedy, out + "--nats-creds x", "--nats-creds has no effect without --nats"},
		{runGreedy, own + "--offline-latency 1ms", "--offline-latency has no effect on qwen3-8b"},
		{runGreedy, own + "--score true --change *.py --base " + tree, "--change is"},
		{runGreedy, own + "--score true --change a.go --frozen b.go --base " + tree, "--frozen has"},
		{runGreedy, out + "--canary 123 --offline-latency 0", "repair the evaluator, or correct the canary"},
		{study(runLayers), "--seed 4294967296", "--seed is 4294967296"},
		{study(runLayers), "--from 4294967295 --runs 2", "--from is 4294967295"},
		{study(runLayers), "--calls 0", "--calls is 0"},
		{study(runLayers), "--runs 1", "--runs is 1"},
		{study(runTuning), "--seed 4294967295 --runs 6", "--seed is 4294967295"},
	} {
		refused(t, tt.args, tt.run(t.Context(), strings.Fields(tt.args)), tt.says)
	}
}
