// Tuning compares a search that tunes the numbers of its programs without a model with the same search without that, on
// tasks whose first program has the right structure and wrong numbers. It says after which share of the model calls the
// first is where the second ends. It needs no network: the stand-in for a model changes numbers of programs at random, as
// real models do in most of their attempts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func main() { os.Exit(cli.Main(run)) }

// options are the flags.
type options struct {
	runs, calls, evaluations int
	seed                     uint
	tasks                    string
}

func run(ctx context.Context, args []string) error {
	var o options
	fs := flag.NewFlagSet("tuning", flag.ContinueOnError)
	fs.StringVar(&o.tasks, "tasks", strings.Join(names(), ","), "the tasks, separated by commas")
	fs.IntVar(&o.runs, "runs", 20, "runs of each search on each task, on paired seeds")
	fs.IntVar(&o.calls, "calls", 160, "model calls of a run")
	fs.IntVar(&o.evaluations, "tune", 1500, "tune evaluations of a run")
	fs.UintVar(&o.seed, "seed", 1, "seed of the first run")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if o.runs < 6 || o.calls < children || o.evaluations < 1 || fs.NArg() > 0 {
		return cli.Usagef("need --runs of at least 6, --calls of at least %d, --tune of at least 1, and nothing else", children)
	}
	cli.Printf("%-12s  %-24s  %-10s  %-10s  %-10s  %-10s\n", "task", "share of calls", "without", "tuned", "random", "more calls")
	for _, name := range strings.Split(o.tasks, ",") {
		k, err := named(name)
		if err != nil {
			return err
		}
		if err := o.compare(ctx, k); err != nil {
			return fmt.Errorf("tuning: %s: %w", name, err)
		}
	}
	return nil
}

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
