// Package speed is the command speed. It makes a NumPy function faster: exp(sin x + cos² x) of 5 million numbers. The
// score is the speed beside the function that it starts from, in standard deviations of 20 copies of that one.
//
//	evoalloc speed --replay
//	evoalloc speed --replay --cores 2 --tune 40
//	LLM_API_BASE=http://localhost:8000/v1 evoalloc speed --model Qwen/Qwen3-8B
//
// It needs Python with NumPy, and Linux. docs/guide.md says how programs are timed that mean to deceive.
package speed

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/eval/timing"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/hints"
)

const (
	system = `Write a Python program that defines f(x, out). Both are NumPy arrays of float64, equally long. f puts
exp(sin x + cos² x) into out for every number of x, to a relative error of 1e-12, and leaves x as it is. The faster it is for
some million numbers on `

	onOne     = "one processor, the better. Use nothing but NumPy."
	onSeveral = "%d processors, the better, by the time that passes. Use nothing but NumPy and threads."

	initial = `import numpy as np

def f(x, out):
    out[:] = np.exp(np.sin(x) + np.cos(x) ** 2)
`
)

//go:embed recording.txt
var recording string

// options are the flags.
type options struct {
	replay           bool
	model, base      string
	rounds, children int
	size, pairs      int
	copies, again    int
	scale            string
	mean, sd         float64 // of scale
	seed             uint64
	hints            bool
	cores, tune      int
}

func (o *options) parse(args []string) error {
	fs := cli.NewFlags("speed", "[flags]: make a NumPy function faster, timed beside the first one; with --replay the "+
		"replies are read from a file, and were written by hand")
	fs.BoolVar(&o.replay, "replay", false, "take replies from a recording, which was written by hand")
	fs.StringVar(&o.model, "model", "", "what the endpoint calls the model")
	fs.StringVar(&o.base, "api-base", "", "URL of the endpoint, or of several replicas of the model, separated by "+
		"commas (default: $LLM_API_BASE; the key is $LLM_API_KEY)")
	fs.IntVar(&o.rounds, "T", 8, "generations, with --model")
	fs.IntVar(&o.children, "N", 8, "children in a generation, with --model")
	fs.IntVar(&o.size, "size", 5_000_000, "numbers of a timed call")
	fs.IntVar(&o.pairs, "pairs", 15, "timed calls of an evaluation")
	fs.IntVar(&o.copies, "copies", 20, "copies of the first function, whose scores are the scale")
	fs.StringVar(&o.scale, "scale", "",
		"mean and sd of copies that an earlier run has printed, with a comma between; then no copies are scored")
	fs.IntVar(&o.again, "again", 0, "how often the best function is scored once more, each time with another scale")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the search, up to 2^32-1")
	fs.IntVar(&o.cores, "cores",
		1, "processors that the function may use; with several, what counts is the time that passes")
	fs.IntVar(&o.tune, "tune", 0,
		"programs that are timed at last to choose the numbers of the best function, such as its block size, without a model")
	fs.BoolVar(&o.hints, "hints", false, "show the model what can be seen in a program's text, such as temporary arrays")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if o.scale != "" {
		if n, err := fmt.Sscanf(o.scale, "%g,%g", &o.mean, &o.sd); n < 2 || err != nil || !(o.sd > 0) ||
			math.IsInf(o.sd, 0) || math.IsNaN(o.mean-o.mean) {
			return cli.Usagef("speed: --scale is %q: need a mean and an sd above 0, such as 1.002,0.05", o.scale)
		}
	}
	switch {
	case o.replay == (o.model != ""):
		return cli.Usagef("speed: need --replay, or --model and an endpoint")
	case o.rounds < 1 || o.children < 1:
		return cli.Usagef("speed: --T is %d and --N is %d: need at least 1", o.rounds, o.children)
	case o.size < 1 || o.pairs < 1 || o.copies < 2 || o.again < 0:
		return cli.Usagef("speed: --size is %d, --pairs %d, --copies %d, --again %d: need at least 1, 1, 2, 0",
			o.size, o.pairs, o.copies, o.again)
	case o.cores < 1:
		return cli.Usagef("speed: --cores is %d: need at least 1", o.cores)
	case o.tune < 0 || o.tune > 0 && o.tune < leastTune:
		return cli.Usagef("speed: --tune is %d: need 0, or at least %d", o.tune, leastTune)
	case o.seed > math.MaxUint32:
		return cli.Usagef("speed: --seed is %d: need at most %d", o.seed, uint32(math.MaxUint32))
	case o.replay && o.base != "":
		return cli.Usagef("speed: --api-base has no effect with --replay")
	}
	return nil
}

func Run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	if err := o.parse(args); err != nil {
		return err
	}
	model, err := o.ask()
	if err != nil {
		return err
	}
	machine, err := timing.NewMachine(timing.MachineConfig{})
	if err != nil {
		return err
	}
	timed, err := o.evaluator(ctx, machine, o.pairs)
	if err != nil {
		return err
	}
	var quick eval.Evaluator
	if o.tune > 0 {
		if quick, err = o.evaluator(ctx, machine, 3); err != nil {
			return err
		}
	}
	return o.play(ctx, model, timed, quick, stdout)
}

// play scales the scores of an evaluator, searches by them, and says what was found. Numbers are tuned on quick.
func (o *options) play(ctx context.Context, model llm.LLM, timed, quick eval.Evaluator, stdout io.Writer) error {
	if o.replay {
		fmt.Fprintf(stdout, "The replies are read from a recording. They were written by hand; no model wrote them.\n\n")
	}
	s, err := o.scaled(ctx, timed, stdout)
	if err != nil {
		return err
	}
	result, err := o.search(ctx, model, s, stdout)
	if result == nil || result.Best.Program == "" || err != nil {
		return err
	}
	o.found(result, stdout)
	if o.tune > 0 {
		if result, err = o.tuned(ctx, model, s, quick, result, stdout); err != nil {
			return err
		}
	}
	return o.repeat(ctx, timed, result.Best.Program, s, stdout)
}

// found says what a search found.
func (o *options) found(result *evolve.Result, stdout io.Writer) {
	best := result.Best
	fmt.Fprintf(stdout, "\nthe best function, z = %.1f, %.2f times as fast:\n\n%s\n",
		best.Result.Score, best.Result.Metrics["speedup"], best.Program)
	if s := best.Result.Metrics["strangers"]; s > 0.1 {
		fmt.Fprintf(stdout,
			"other processes used %.0f %% of the processors while it was timed: this figure needs a quiet machine\n", 100*s)
	}
	switch f := result.Fresh; {
	case f == nil:
	case !f.Valid:
		fmt.Fprintf(stdout, "on a fresh sample it is invalid: %s\n", f.Reason)
	case f.Samples != nil:
		fmt.Fprintf(stdout, "on %d fresh samples: z = %.1f, sd %.1f\n", f.N(), f.Score, f.Samples.SD)
	}
}

// scaled returns the evaluator with z-scores, by a scale of another run or by copies of the first function.
func (o *options) scaled(ctx context.Context, timed eval.Evaluator, stdout io.Writer) (*eval.Scale, error) {
	if o.scale != "" {
		return &eval.Scale{Of: timed, Mean: o.mean, SD: o.sd}, nil
	}
	s, err := eval.ZScore(ctx, timed, initial, o.copies)
	if err == nil {
		fmt.Fprintf(stdout, "%d copies of the first function: speed-up %.4f, sd %.4f\nthe same scale again: --scale "+
			"%g,%g\n\n", o.copies, s.Mean, s.SD, s.Mean, s.SD)
	}
	return s, err
}

// search makes the function faster.
func (o *options) search(ctx context.Context, model llm.LLM, e eval.Evaluator,
	stdout io.Writer) (*evolve.Result, error) {
	numpy, err := o.task(initial, e)
	if err != nil {
		return nil, err
	}
	if o.hints {
		reader, err := hints.NewPython(ctx,
			hints.PythonConfig{Sizes: map[string]int64{"x": 8 * int64(o.size), "out": 8 * int64(o.size)}})
		if err != nil {
			return nil, cli.Usagef("speed: --hints: %w", err)
		}
		defer reader.Close()
		numpy = task.WithHints(numpy, reader)
	}
	arm, err := population.New(population.Config{Task: numpy, LLM: model, N: o.children, Seed: uint32(o.seed),
		Noise:   &evolve.Noise{},
		OnChild: func(c evolve.Child) { o.show(c, stdout) }})
	if err != nil {
		return nil, err
	}
	return advance(ctx, arm, evolve.Budget{Rounds: o.rounds})
}

// advance runs a search.
func advance(ctx context.Context, arm evolve.Arm, budget evolve.Budget) (*evolve.Result, error) {
	result, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: budget})
	switch {
	case err != nil:
		return nil, err
	case result.Stop == evolve.StopCanceled:
		return nil, cli.ErrCanceled
	}
	return result, nil
}

// task is to make a function faster.
func (o *options) task(initial string, e eval.Evaluator) (task.Task, error) {
	text := system + onOne
	if o.cores > 1 {
		text = system + fmt.Sprintf(onSeveral, o.cores)
	}
	return task.New(task.Spec{Name: "speed", Language: "python", System: text, Initial: initial, Evaluator: e,
		Feedback: 1000})
}

// leastTune is the fewest programs that a tuning is begun with.
const leastTune = 10

// tuned tunes the numbers of the best function on quick, times what that finds like any other function, and says what
// it was. It returns the result to go on with: that of the tuning if it gained.
func (o *options) tuned(ctx context.Context, model llm.LLM, e *eval.Scale, quick eval.Evaluator, found *evolve.Result,
	stdout io.Writer) (*evolve.Result, error) {
	numpy, err := o.task(found.Best.Program, e)
	if err != nil {
		return nil, err
	}
	// A function has a few integers, for which small steps are none. So no evaluations go into finding the first step.
	tuner := &tune.Tuner{On: quick, Method: tune.CMAES{Step: 1}, Margin: 0.02, Evaluations: o.tune, Parallel: 1}
	arm, err := population.New(population.Config{Task: numpy, LLM: model, N: 1, Seed: uint32(o.seed),
		Operators: []population.Operator{tuner}, Noise: &evolve.Noise{}})
	if err != nil {
		return nil, err
	}
	result, err := advance(ctx, arm, evolve.Budget{Rounds: 1, TuneEvaluations: o.tune})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stdout, "\n%d functions were timed to tune numbers\n", result.TuneEvaluations)
	if result.Best.Program == found.Best.Program {
		fmt.Fprintln(stdout, "none is faster")
		return found, nil
	}
	o.found(result, stdout)
	return result, nil
}

// show prints a child.
func (o *options) show(c evolve.Child, stdout io.Writer) {
	switch r := c.Candidate.Result; {
	case c.Candidate.Program == "":
		fmt.Fprintln(stdout, "no program")
	case !r.Valid:
		fmt.Fprintf(stdout, "invalid: %s\n", r.Reason)
	default:
		fmt.Fprintf(stdout, "z = %6.1f, %.3f times as fast\n", r.Score, r.Metrics["speedup"])
	}
}

// repeat scores a program again and again, on the scale of the search and on a fresh one each time, and says how far
// the z-scores lie apart.
func (o *options) repeat(ctx context.Context, timed eval.Evaluator, program string, search *eval.Scale,
	stdout io.Writer) error {
	var same, fresh []float64
	for i := range o.again {
		s, err := eval.ZScore(ctx, timed, initial, o.copies)
		if err != nil {
			return err
		}
		r, err := timed.Evaluate(ctx, program)
		if err != nil {
			return err
		}
		if !r.Valid {
			fmt.Fprintf(stdout, "again %d: invalid: %s\n", i+1, r.Reason)
			continue
		}
		same, fresh = append(same, (r.Score-search.Mean)/search.SD), append(fresh, (r.Score-s.Mean)/s.SD)
		fmt.Fprintf(stdout, "again %d: %.3f times as fast; z = %.1f, by the sd %.4f of %d other copies %.1f\n",
			i+1, r.Score, same[len(same)-1], s.SD, o.copies, fresh[len(fresh)-1])
	}
	if len(same) > 1 {
		fmt.Fprintf(stdout, "from the lowest to the highest: %.0f %% on one scale, %.0f %% with a scale each\n",
			spread(same), spread(fresh))
	}
	return nil
}

// spread returns how far the highest lies above the lowest, in percent of their middle.
func spread(xs []float64) float64 {
	low, high := slices.Min(xs), slices.Max(xs)
	return 200 * (high - low) / (high + low)
}

// evaluator returns what times a function beside the first one, in this many pairs of calls.
func (o *options) evaluator(ctx context.Context, machine *timing.Machine, pairs int) (eval.Evaluator, error) {
	interpreter, err := python.Find(ctx, "numpy")
	if err != nil {
		return nil, cli.Usagef("speed: needs Python with NumPy (on Debian: apt-get install python3-numpy): %w", err)
	}
	clock := timing.CPU
	if o.cores > 1 {
		clock = timing.Elapsed
	}
	return machine.Evaluator(ctx, timing.Config{
		Build: timing.Python(interpreter, "f"), Baseline: initial, Pairs: pairs, Check: timing.Close(1e-12, 0),
		Clock: clock, Cores: o.cores,
		Input:   numbers(o.size),
		Others:  func(r *rand.Rand) [][]byte { return [][]byte{nil, numbers(1)(r), numbers(10_007)(r)} },
		Bytes:   max(8*o.size, 1<<20),
		Timeout: time.Minute, // of a call, on a machine with more to do
	})
}

// numbers draws n numbers from -10 to 10.
func numbers(n int) func(*rand.Rand) []byte {
	return func(r *rand.Rand) []byte {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = 20*r.Float64() - 10
		}
		return timing.Floats(xs)
	}
}

// inFlight is how many calls are made at once.
const inFlight = 16

// ask returns the model, or the recording, which has one reply for each generation of one child.
func (o *options) ask() (llm.LLM, error) {
	if o.replay {
		one, several, _ := strings.Cut(recording, "\n--- for several processors\n")
		if o.cores > 1 {
			one += several
		}
		texts := strings.Split(one, "\n--- reply\n")[1:]
		o.rounds, o.children = len(texts), 1
		return &replies{texts: texts}, nil
	}
	client, err := cli.Endpoints(o.base, inFlight, func(base string) (llm.LLM, error) {
		return openai.New(openai.Config{BaseURL: base, Model: llm.Model{Key: o.model, Name: o.model}})
	})
	if err != nil {
		return nil, err
	}
	return llm.Retry(llm.Limit(client, inFlight), llm.RetryConfig{}), nil
}

// A replies is an LLM that gives replies in order, whatever it is asked: requests differ from run to run here, as they
// show measured scores.
type replies struct {
	texts []string
	next  atomic.Int64
}

func (r *replies) Generate(context.Context, llm.Request) (llm.Reply, error) {
	i := int(r.next.Add(1)) - 1
	if i >= len(r.texts) {
		return llm.Reply{}, errors.New("speed: the recording has no more replies")
	}
	return llm.Reply{Text: r.texts[i], Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
}
