// Package gofunc is the command gofunc. It evolves a Go function: whether it is right is decided by a test and by a
// comparison with the first function, and how good it is by its speed beside that one.
//
//	evoalloc gofunc            # one generation of three children
//	evoalloc gofunc --T 4      # four of eight
//	evoalloc gofunc --tune 60
//	LLM_API_BASE=http://localhost:8000/v1 evoalloc gofunc --model Qwen/Qwen3-8B
//
// The function cannot reach the clock, the comparison, or anything of this machine: see docs/guide.md.
package gofunc

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/timing"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/gofunc"
	"github.com/evoalloc/evoalloc/task/hints"
)

const system = `Write a Go file of package sorting with a function Sort(xs []int) that sorts xs in place. It must be right for
every input; the faster it sorts 40000 random numbers on one processor, the better. Use no other packages.`

// The function, what calls it, and its test.
var (
	//go:embed sort.go.txt
	initial string
	//go:embed driver.go.txt
	driver string
	//go:embed sort_test.go.txt
	test string
)

// size is how many numbers a timed call sorts.
const size = 40_000

// options are the flags.
type options struct {
	rounds, children int
	seed             uint64
	model, base      string
	race             bool
	tune             int
	hints            bool
}

// quickFlags are the flags where none is given, and wholeFlags those of a longer search.
const (
	quickFlags = "--T 1 --N 3"
	wholeFlags = "--T 4 --N 8"
)

func (o *options) parse(args []string) error {
	fs := cli.NewFlags("gofunc", "[flags]: make a Go function that sorts faster, timed beside the first one; eight "+
		"children take about half a minute on two cores")
	fs.IntVar(&o.rounds, "T", 4, "generations")
	fs.IntVar(&o.children, "N", 8, "children in a generation")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the search, up to 2^32-1")
	fs.StringVar(&o.model, "model", "",
		"what the endpoint calls the model (default: a stand-in without a network, which only changes numbers)")
	fs.StringVar(&o.base, "api-base", "", "URL of the endpoint, or of several replicas of the model, separated by "+
		"commas (default: $LLM_API_BASE; the key is $LLM_API_KEY)")
	fs.BoolVar(&o.race, "race", false, "test under the race detector, which needs a C compiler")
	fs.IntVar(&o.tune, "tune", 0,
		"programs that are timed to choose the numbers of a function, without a model; without --model nothing else is done")
	fs.BoolVar(&o.hints, "hints",
		false, "show the model what can be seen in a function's text, such as what is allocated in loops")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	switch {
	case o.rounds < 1 || o.children < 1:
		return cli.Usagef("gofunc: --T is %d and --N is %d: need at least 1", o.rounds, o.children)
	case o.tune < 0 || o.tune > 0 && o.tune < leastTune:
		return cli.Usagef("gofunc: --tune is %d: need 0, or at least %d", o.tune, leastTune)
	case o.seed > math.MaxUint32:
		return cli.Usagef("gofunc: --seed is %d: need at most %d", o.seed, uint32(math.MaxUint32))
	case o.model == "" && o.base != "":
		return cli.Usagef("gofunc: --api-base has no effect without --model")
	}
	return nil
}

func Run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	if err := o.parse(cli.Quick(stdout, "gofunc", args, quickFlags, wholeFlags)); err != nil {
		return err
	}
	model, err := newModel(o.model, o.base)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gofunc-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	machine, err := timing.NewMachine(timing.MachineConfig{})
	if err != nil {
		return err
	}
	sorting, err := newTask(ctx, machine, dir, o.race)
	if err != nil {
		return err
	}
	if o.hints {
		reader, err := hints.NewGo(ctx, hints.GoConfig{})
		if err != nil {
			return cli.Usagef("gofunc: --hints: %w", err)
		}
		defer reader.Close()
		sorting = task.WithHints(sorting, reader)
	}
	var progress *cli.Counter // begins with the search
	arm, err := o.arm(ctx, machine, sorting, model, dir, func(evolve.Child) { progress.Step() })
	if err != nil {
		return err
	}
	progress = cli.NewCounter(stdout, o.rounds*o.children, "children")
	defer progress.Close()
	return o.search(ctx, arm, progress, stdout)
}

// arm returns the search: greedy, and one with a tuner if numbers are tuned.
func (o *options) arm(ctx context.Context, machine *timing.Machine, sorting task.Task, model llm.LLM, dir string,
	onChild func(evolve.Child)) (evolve.Arm, error) {
	if o.tune == 0 {
		return population.New(population.Config{Task: sorting, LLM: model, N: o.children, Seed: uint32(o.seed),
			Noise: &evolve.Noise{}, OnChild: onChild})
	}
	on, err := tuneOn(ctx, machine, filepath.Join(dir, "tune"))
	if err != nil {
		return nil, err
	}
	// A function has a few integers, for which small steps are none. So no evaluations go into finding the first step.
	// A gain of a tenth is more than the medians of three timed calls differ by as a rule.
	tuner := &tune.Tuner{On: on, Method: tune.CMAES{Step: 1}, Margin: math.Log(1.1), Evaluations: 40, Parallel: 1}
	operators := []population.Operator{population.Rewrite{}, tuner}
	if o.model == "" { // one tuning, which is the only child
		tuner.Evaluations, operators = o.tune, operators[1:]
		o.rounds, o.children = 1, 1
	}
	return population.New(population.Config{Task: sorting, LLM: model, N: o.children, Seed: uint32(o.seed),
		Operators: operators, Noise: &evolve.Noise{}, OnChild: onChild})
}

// search advances the arm and prints what comes of it.
func (o *options) search(ctx context.Context, arm evolve.Arm, progress *cli.Counter, stdout io.Writer) error {
	progress.Print("generation         best  " + cli.CountsHead)
	result, err := evolve.Run(ctx, evolve.Config{
		Arms:   []evolve.Arm{arm},
		Budget: evolve.Budget{Rounds: o.rounds, TuneEvaluations: o.tune},
		Observer: func(e evolve.Event) {
			if g := e.Generation; e.Kind == evolve.EventGeneration {
				progress.Print(fmt.Sprintf("%10d  %11.3f  %s", g.Index, g.Best.Result.Score, cli.Counts(g)))
			}
		},
	})
	progress.Close()
	if result != nil && result.Stop == evolve.StopCanceled {
		fmt.Fprintf(stdout, "stopped; the search is incomplete, after %d of %d calls\n", result.Calls, o.rounds*o.children)
	}
	if result != nil && len(result.Arms) > 0 && result.Best.Program != "" {
		fmt.Fprintf(stdout, "\nthe first function's speed times %.3f, which by itself has %.3f:\n%s\n",
			result.Best.Result.Score, result.Arms[0].Start.Result.Score, result.Best.Program)
	}
	if result != nil && result.Fresh != nil && result.Fresh.Samples != nil {
		fmt.Fprintf(stdout, "on %d fresh samples: %.3f, sd %.3f\n", result.Fresh.N(), result.Fresh.Score,
			result.Fresh.Samples.SD)
	}
	if o.tune > 0 && result != nil {
		fmt.Fprintf(stdout, "%d programs were timed to tune numbers, and the model was called %d times\n",
			result.TuneEvaluations, result.Calls)
	}
	if err == nil && result.Stop == evolve.StopCanceled {
		return cli.ErrCanceled
	}
	return err
}

// inFlight is how many calls are made at once.
const inFlight = 16

// newModel returns the model of that name at the endpoints base, or in the environment, or the stand-in.
func newModel(name, base string) (llm.LLM, error) {
	if name == "" {
		return offline.New(offline.Config{})
	}
	client, err := cli.Endpoints(base, inFlight, func(base string) (llm.LLM, error) {
		return openai.New(openai.Config{BaseURL: base, Model: llm.Model{Key: name, Name: name}})
	})
	if err != nil {
		return nil, err
	}
	return llm.Retry(llm.Limit(client, inFlight), llm.RetryConfig{}), nil
}

// newTask returns the task of making the function faster, with what it needs in dir.
func newTask(ctx context.Context, machine *timing.Machine, dir string, race bool) (task.Task, error) {
	return gofunc.New(ctx, config(machine, dir, test, race, timing.Config{}))
}

// config is that of the task, with the calls of timed.
func config(machine *timing.Machine, dir, test string, race bool, timed timing.Config) gofunc.Config {
	timed.Input, timed.Others, timed.Bytes = numbers(size), edges, 1<<20
	return gofunc.Config{
		Name: "sorting", System: system, Initial: initial, Driver: driver, Test: test, Race: race, Imports: []string{},
		Machine: machine, Folder: dir, Feedback: 2000, Timing: timed,
		Build: 5 * time.Minute, // on a machine with more to do
	}
}

// leastTune is the fewest programs that a tuning is begun with.
const leastTune = 10

// A logarithm is the evaluator that numbers are tuned on. It scores the logarithm of the speed, by which a margin is
// the same share of the speed of a slow function and of a fast one.
type logarithm struct{ of eval.Evaluator }

// tuneOn returns a logarithm of few timed calls, without the test. Answers are compared all the same, and what is
// chosen is tested and timed like any other.
func tuneOn(ctx context.Context, machine *timing.Machine, dir string) (eval.Evaluator, error) {
	quick, err := gofunc.New(ctx, config(machine, dir, "", false, timing.Config{Pairs: 3, WarmUps: 1}))
	if err != nil {
		return nil, err
	}
	return logarithm{quick}, nil
}

// Evaluate scores program.
func (l logarithm) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	r, err := l.of.Evaluate(ctx, program)
	if err == nil && r.Valid {
		r.Score = math.Log(r.Score)
	}
	return r, err
}

// String names the evaluator.
func (l logarithm) String() string { return "the logarithm of the speed in 3 calls" }

// numbers draws n numbers.
func numbers(n int) func(*rand.Rand) []byte {
	return func(r *rand.Rand) []byte {
		xs := make([]int, n)
		for i := range xs {
			xs[i] = r.Int() - r.Int()
		}
		return timing.Ints(xs)
	}
}

// edges draws what is not timed: nothing, little, and long rows of numbers that are equal or in order.
func edges(r *rand.Rand) [][]byte {
	rising, few := make([]int, size/4), make([]int, size/4)
	for i := range rising {
		rising[i], few[i] = i, r.IntN(3)
	}
	return [][]byte{nil, numbers(1)(r), numbers(2)(r), numbers(5001)(r), timing.Ints(rising), timing.Ints(few)}
}
