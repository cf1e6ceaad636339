// Tuning compares a search that tunes the numbers of its programs without a model with the same search without that, on
// tasks whose first program has the right structure and wrong numbers. It says after which share of the model calls the
// first is where the second ends. It needs no network: the stand-in for a model changes numbers of programs at random, as
// real models do in most of their attempts.
//
//	go run ./examples/tuning                                            # one task, in seconds
//	go run ./examples/tuning --tasks rings,points,bumps,sine --runs 16  # takes minutes
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func main() {
	os.Exit(cli.Main(func(ctx context.Context, args []string) error { return run(ctx, args, cli.Stdout()) }))
}

// quickFlags are the flags where none is given, and wholeFlags those of all tasks.
const (
	quickFlags = "--tasks sine --runs 6"
	wholeFlags = "--tasks rings,points,bumps,triangle,coordinates,bins,sine --runs 20"
)

// options are the flags.
type options struct {
	runs, calls, evaluations int
	seed                     uint
	tasks                    string
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	fs := flag.NewFlagSet("tuning", flag.ContinueOnError)
	fs.StringVar(&o.tasks, "tasks", strings.Join(names(), ","), "the tasks, separated by commas")
	fs.IntVar(&o.runs, "runs", 20, "runs of each search on each task, on paired seeds")
	fs.IntVar(&o.calls, "calls", 160, "model calls of a run")
	fs.IntVar(&o.evaluations, "tune", 1500, "tune evaluations of a run")
	fs.UintVar(&o.seed, "seed", 1, "seed of the first run")
	if err := cli.Parse(fs, cli.Quick(stdout, "tuning", args, quickFlags, wholeFlags)); err != nil {
		return err
	}
	if o.runs < least || o.calls < children || o.evaluations < 1 {
		return cli.Usagef("tuning: need --runs of at least %d, --calls of at least %d, --tune of at least 1", least, children)
	}
	var chosen []kind
	for name := range strings.SplitSeq(o.tasks, ",") {
		k, err := named(name)
		if err != nil {
			return err
		}
		chosen = append(chosen, k)
	}
	p := cli.NewCounter(stdout, len(chosen)*o.runs, "pairs of runs")
	defer p.Close()
	p.Print(fmt.Sprintf("%-12s  %-24s  %-10s  %-10s  %-10s  %-10s", "task", "share of calls", "without", "tuned", "random", "more calls"))
	for _, k := range chosen {
		if err := o.compare(ctx, k, p); err != nil {
			return fmt.Errorf("tuning: %s: %w", k.name, err)
		}
	}
	return nil
}

// least is the fewest runs that the median has a 95 % interval of.
const least = 6

// children is how many a step has.
const children = 4

// search makes one run. o is nil in a search that tunes nothing.
func search(ctx context.Context, k kind, seed uint32, tuner *tune.Tuner, b evolve.Budget) (*evolve.Result, error) {
	t, model, err := k.make()
	if err != nil {
		return nil, err
	}
	operators := []population.Operator{population.Rewrite{}}
	if tuner != nil {
		tuner.Find = k.find
		operators = append(operators, tuner)
	}
	arm, err := population.New(population.Config{Task: t, LLM: model, N: children, Seed: seed, Operators: operators})
	if err != nil {
		return nil, err
	}
	return evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: b})
}
