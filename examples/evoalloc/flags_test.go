package main

import (
	"context"
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
	out := "--output " + t.TempDir() + " "
	own := out + "--model qwen3-8b --api-base http://localhost:1/v1 "
	for _, tt := range []struct {
		run        func(context.Context, []string) error
		args, says string
	}{
		{runPopulations, own + "--agent loop --agent-only --tune 5", "--tune has no effect with --agent-only"},
		{runGreedy, out + "--parallel-llm 10000000", "files may be open (ulimit -n)"},
		{runGreedy, out + "--outage -1s", "--outage is -1s"},
		{runGreedy, own + "--with . --score true --change *.go --base " + tree, "--with and --device have no effect"},
		{runGreedy, out + "--nats-creds x", "--nats-creds has no effect without --nats"},
		{runGreedy, own + "--offline-latency 1ms", "--offline-latency has no effect on qwen3-8b"},
		{runGreedy, own + "--score true --change *.py --base " + tree, "--change is"},
		{runGreedy, own + "--score true --change a.go --frozen b.go --base " + tree, "--frozen has"},
		{runGreedy, out + "--canary 123 --offline-latency 0", "repair the evaluator, or correct the canary"},
	} {
		refused(t, tt.args, tt.run(t.Context(), strings.Fields(tt.args)), tt.says)
	}
}
