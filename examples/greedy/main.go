// Greedy evolves one program with one greedy search: T generations of N children, each generation
// rewriting the best program so far. With no flags it runs for about ten seconds on a stand-in model
// that needs no network; with --model and an OpenAI-compatible endpoint in $LLM_API_BASE it does the
// same with a real one.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func main() { os.Exit(cli.Main(run)) }

func run(ctx context.Context, args []string) error {
	var o cli.Options
	fs := flag.NewFlagSet("greedy", flag.ContinueOnError)
	o.Register(fs)
	seed := fs.Uint64("seed", 40, "seed of the search, up to 2^32-1")
	if err := o.Parse(fs, args); err != nil {
		return err
	}
	if *seed > math.MaxUint32 {
		return cli.Usagef("--seed is %d: need at most %d", *seed, uint32(math.MaxUint32))
	}
	s, err := o.Setup()
	if err != nil {
		return err
	}
	defer s.Close()
	header := report.Header{Task: s.Task.Name(), Model: s.Model, T: o.T, N: o.N}
	path := header.GreedyPath(uint32(*seed))
	saver, err := cli.NewSaver(o.Output, path, s.Task)
	if err != nil {
		return err
	}

	j, err := o.OpenJournal(ctx, s, saver, journal.Fingerprint{"seed": fmt.Sprint(*seed)})
	if err != nil {
		return err
	}
	defer j.Close()

	progress := cli.NewProgress(ctx, o.T*o.N, "generation       parent         best  "+cli.CountsHead)
	result, err := search(ctx, &o, s, uint32(*seed), j, progress)
	progress.Close()
	if result == nil {
		return err
	}
	file := report.NewGreedy(result, header, uint32(*seed))
	o.Summary(result, file.Trajectory[0].BestFitness, file.FLOPs)
	if s.Pool != nil {
		cli.Printf("%v\n", s.Pool.Report())
	}
	return o.Finish(saver, file, result, err)
}

// search is the example proper.
func search(ctx context.Context, o *cli.Options, s *cli.Setup, seed uint32, j *journal.Journal, progress *cli.Progress) (*evolve.Result, error) {
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: s.Task, LLM: s.LLM, N: o.N, Seed: seed, OnChild: progress.Child})
	if err != nil {
		return nil, err
	}
	return evolve.Run(ctx, evolve.Config{
		Arms:    []evolve.Arm{arm},
		Budget:  o.Budget(),
		Grace:   o.Grace,
		Journal: j,
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration {
				g := e.Generation
				progress.Printf("%10d  %11.6f  %11.6f  %s", g.Index, g.Before.Result.Score, g.Best.Result.Score, cli.Counts(g))
				progress.Complain(g)
			}
		},
	})
}
