// Tuning compares a search that tunes the numbers of its programs without a model with the same search without that,
// on tasks whose first program has the right structure and wrong numbers. It says after which share of the model calls
// the first is where the second ends. It needs no network: the stand-in for a model changes numbers of programs at
// random, as real models do in most of their attempts.
//
//	go run ./examples/tuning                                            # one task, in seconds
//	go run ./examples/tuning --tasks rings,points,bumps,sine --runs 16  # takes minutes
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/tuning"
)

func main() {
	os.Exit(cli.Main(func(ctx context.Context, args []string) error { return run(ctx, args, cli.Stdout()) }))
}

// quickFlags are the flags where none is given, and wholeFlags those of all tasks.
const (
	quickFlags = "--tasks sine --runs 6"
	wholeFlags = "--tasks rings,points,bumps,triangle,coordinates,bins,sine --runs 20"
)

func run(ctx context.Context, args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("tuning", flag.ContinueOnError)
	tasks := fs.String("tasks", strings.Join(tuning.Tasks(), ","), "the tasks, separated by commas")
	runs := fs.Int("runs", 20, "runs of each search on each task, on paired seeds")
	calls := fs.Int("calls", 160, "model calls of a run")
	evaluations := fs.Int("tune", 1500, "tune evaluations of a run")
	seed := fs.Uint("seed", 1, "seed of the first run")
	if err := cli.Parse(fs, cli.Quick(stdout, "tuning", args, quickFlags, wholeFlags)); err != nil {
		return err
	}
	return tuning.Study{
		Tasks: strings.Split(*tasks, ","), Runs: *runs, Calls: *calls, Evaluations: *evaluations, Seed: uint32(*seed),
	}.Play(ctx, stdout)
}
