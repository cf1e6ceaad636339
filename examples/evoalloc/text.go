package main

import (
	"context"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// runText evolves a prompt by a model's replies to cases: it is the greedy command with --task text by default.
func runText(ctx context.Context, args []string) error {
	fs := cli.NewFlags("text", "[flags]: evolve a prompt, by what a model replies to cases",
		"cases", "prompt", "scorer", "model", "api-base", "T", "N", "seed", "budget-usd", "budget-time",
		"target", "resume", "output", "watch", "config")
	return oneGreedy(ctx, fs, args, func() {
		t := fs.Lookup("task")
		t.DefValue = "text"
		t.Value.Set(t.DefValue)
	})
}
