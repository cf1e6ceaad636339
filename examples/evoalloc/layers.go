package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/layering"
)

// runLayers finds rules for scheduling jobs in shops of four kinds, and then a router that chooses the rule for a shop,
// with a model that needs no network; with --runs it compares that with flat searches.
func runLayers(ctx context.Context, args []string, stdout io.Writer) error {
	fs := cli.NewFlags("layers",
		"[flags]: find rules for scheduling jobs in shops, and a router that says which rule to use where")
	calls := fs.Int("calls", 600, "model calls of both stages")
	seed := fs.Uint64("seed", 1, "seed of the searches, up to 2^32-1")
	first := fs.Uint64("from", 0, "first seed of a comparison")
	runs := fs.Int("runs", 0, "compare with flat searches over so many seeds; 0 means one layered run")
	path := fs.String("journal", "", "file that one run is kept in and goes on from")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	switch {
	case *calls < 1:
		return cli.Usagef("layers: --calls is %d: need at least 1", *calls)
	case *runs < 0 || *runs == 1:
		return cli.Usagef("layers: --runs is %d: need 2 or more for a comparison", *runs)
	case *seed > uint64(cli.MaxSeed):
		return cli.Usagef("layers: --seed is %d: need at most %d", *seed, cli.MaxSeed)
	case *first+layering.SeedsOfPair*uint64(*runs) > uint64(cli.MaxSeed) || *first > uint64(cli.MaxSeed):
		return cli.Usagef("layers: --from is %d: need seeds up to %d for %d runs", *first, cli.MaxSeed, *runs)
	case *runs > 0 && *path != "":
		return cli.Usagef("layers: --journal has no effect with --runs: it keeps one run")
	}
	b, err := newBench(*calls)
	switch {
	case err != nil:
		return err
	case *runs > 0:
		return layering.Study(ctx, b, uint32(*first), *runs, stdout)
	}
	return oneLayered(ctx, b, uint32(*seed), *path, stdout)
}

// newBench returns the task and the model, and the search in layers: rules by fronts of shops, and then a router over
// five of them.
func newBench(calls int) (layering.Bench, error) {
	b, err := layering.NewBench(calls)
	b.Layered = func(seed uint32, share float64) (*layers.Layers, error) {
		rules, err := b.Fronts(seed)
		if err != nil {
			return nil, err
		}
		return layers.New(layers.Config{
			Bases: rules, Calls: calls, Share: share, Most: 5, Language: "javascript",
			Combine: func(pool []eval.Candidate) (evolve.Arm, error) {
				routers, err := layering.NewRouter(b.Runner, pool)
				if err != nil {
					return nil, err
				}
				return population.New(population.Config{
					Task: routers, LLM: b.Model, N: layering.Children, Seed: seed, Archive: population.Drift(),
					Operators: []population.Operator{population.Rewrite{Instruction: "Only tune the numbers."}},
				})
			},
			Whole: layering.Whole,
		})
	}
	return b, err
}

// oneLayered makes one layered run, and prints its result.
func oneLayered(ctx context.Context, b layering.Bench, seed uint32, path string, out io.Writer) (err error) {
	l, err := b.Layered(seed, layering.Half)
	if err != nil {
		return cli.Usagef("layers: --calls is %d: %w", b.Calls, err)
	}
	cfg := evolve.Config{Arms: []evolve.Arm{l}, Policy: bandit.Random{}, Budget: evolve.Budget{Calls: b.Calls}}
	if path != "" {
		j, err := journal.Open(path,
			journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"search": l.String(), "seed": fmt.Sprint(seed)}})
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		cfg.Journal = j
		defer func() { err = errors.Join(err, j.Close()) }()
	}
	res, err := evolve.Run(ctx, cfg)
	if err != nil {
		return err
	}
	held, err := b.Rules.HeldOut(ctx, res.Best.Program)
	if err != nil {
		return err
	}
	base := l.Result().Arms[0].Best
	fmt.Fprintf(out, "%d calls; the best rule alone scores %.3f, ", res.Calls, base.Result.Score)
	if !l.Promoted() {
		fmt.Fprintf(out, "and no router over %d rules more\n", len(l.Pool()))
		return nil
	}
	fmt.Fprintf(out, "routed over %d rules %.3f, and %.3f in shops that the search never saw:\n%s",
		len(l.Pool()), res.Best.Result.Score, held.Score, eval.Printable(res.Best.Program))
	return nil
}
