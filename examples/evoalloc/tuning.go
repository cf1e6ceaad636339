package main

import (
	"context"
	"io"
	"strings"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/tuning"
)

// quickTuning are the default flags, and wholeTuning those for all tasks.
const (
	quickTuning = "--tasks sine --runs 6"
	wholeTuning = "--tasks rings,points,bumps,triangle,coordinates,bins,sine --runs 20"
)

// runTuning compares a search that tunes the numbers of its programs without a model with the same search without
// tuning, on tasks whose initial program has the right structure and wrong numbers. It prints the share of the model
// calls after which the first reaches the end score of the second.
func runTuning(ctx context.Context, args []string, stdout io.Writer) error {
	fs := cli.NewFlags("tuning", "[flags]: compare a search that tunes numbers without a model with one that does not")
	tasks := fs.String("tasks", strings.Join(tuning.Tasks(), ","), "the tasks, separated by commas")
	runs := fs.Int("runs", 20, "runs of each search on each task, on paired seeds")
	calls := fs.Int("calls", 160, "model calls of a run")
	evaluations := fs.Int("tune", 1500, "tune evaluations of a run")
	seed := fs.Uint64("seed", 1, "seed of the first run, up to 2^32-1")
	if err := cli.Parse(fs, cli.Quick(stdout, "tuning", args, quickTuning, wholeTuning)); err != nil {
		return err
	}
	if *seed > uint64(cli.MaxSeed) || *runs > 0 && *seed+uint64(*runs)-1 > uint64(cli.MaxSeed) {
		return cli.Usagef("tuning: --seed is %d: need seeds up to %d for %d runs", *seed, cli.MaxSeed, *runs)
	}
	return tuning.Study{
		Tasks: strings.Split(*tasks, ","), Runs: *runs, Calls: *calls, Evaluations: *evaluations, Seed: uint32(*seed),
	}.Play(ctx, stdout)
}
