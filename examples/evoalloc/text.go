package main

import (
	"context"
	"flag"
)

// runText evolves a prompt by what a model replies to cases: it is the command greedy with --task text by default.
func runText(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("text", flag.ContinueOnError)
	return oneGreedy(ctx, fs, args, func() {
		t := fs.Lookup("task")
		t.DefValue = "text"
		t.Value.Set(t.DefValue)
	})
}
