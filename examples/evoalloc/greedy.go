package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// runGreedy evolves one program with one greedy search: each generation rewrites the best program so far, and has as
// many children as --breadth decides, at most N. With --window a better child becomes the parent of those begun after
// it.
func runGreedy(ctx context.Context, args []string) error {
	fs := cli.NewFlags("greedy", "[flags]: evolve a program with one greedy search",
		"task", "model", "api-base", "T", "N", "seed", "breadth", "budget-usd", "budget-time", "target",
		"resume", "output", "watch", "config")
	return oneGreedy(ctx, fs, args, func() {})
}

// oneGreedy is the greedy command, and its variants with other defaults, which adjust sets once the flags of fs are
// defined.
func oneGreedy(ctx context.Context, fs *flag.FlagSet, args []string, adjust func()) error {
	var o struct {
		cli.Options
		cli.Search
	}
	o.Options.Register(fs)
	o.Search.Register(fs)
	adjust()
	if err := o.Parse(fs, args); err != nil {
		return err
	}
	if err := o.Check(&o.Options, cli.MaxSeed); err != nil {
		return err
	}
	return search{
		Options: &o.Options, standIn: offline.Config{Prose: 1}, guard: o.Guarded,
		arms: func(t task.Task, who cli.Proposing) ([]evolve.Arm, error) {
			arm, err := newGreedy(&o.Options, &o.Search, t, who)
			return []evolve.Arm{arm}, err
		},
		decides: func([]evolve.Arm) journal.Fingerprint {
			return o.Fingerprint(journal.Fingerprint{
				"seed": fmt.Sprint(o.Seed), "window": fmt.Sprint(o.Window), "order": o.Order.String(),
				"offline structure": "0", // as earlier journals have it
			})
		},
		audit: o.Audit, seed: o.Seed, ties: !o.Noisy, head: generationHead, row: generationRow,
	}.run(ctx)
}

// newGreedy returns greedy search, by mean scores if scores are noisy.
func newGreedy(o *cli.Options, s *cli.Search, t task.Task, who cli.Proposing) (evolve.Arm, error) {
	if s.Noisy {
		return population.New(population.Config{
			Task: t, LLM: who.LLM, Proposers: who.Proposers, Policy: who.Policy(), N: o.N, Breadth: o.Children(), Seed: s.Seed,
			Window: s.Window, Order: s.Order, Noise: s.Noise(),
		})
	}
	return evolve.NewGreedy(evolve.GreedyConfig{
		Task: t, LLM: who.LLM, Proposers: who.Proposers, Policy: who.Policy, N: o.N, Breadth: o.Children(), Seed: s.Seed,
		Window: s.Window, Order: s.Order, Strict: o.Strict,
	})
}

// generationHead is the head of the rows of generationRow.
const generationHead = "generation       parent         best  " + cli.CountsHead

// generationRow is the row of a generation of one search.
func generationRow(e evolve.Event) string {
	g := e.Generation
	return fmt.Sprintf("%10d  %11.6f  %11.6f  %s", g.Index, g.Before.Result.Score, g.Best.Result.Score, cli.Counts(g))
}
