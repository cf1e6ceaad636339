// Gofunc evolves a Go function: whether it is right is decided by a test, and how good it is by a
// benchmark, in a module that is thrown away afterwards. Programs in any other language are evolved in
// the same way: the command that scores them is all that changes.
//
//	go run ./examples/gofunc
//	LLM_API_BASE=http://localhost:8000/v1 go run ./examples/gofunc --model Qwen/Qwen3-8B
//
// The function runs in the same process as its test, so it could claim to be right and fast. What it
// cannot do is harm: see docs/security.md.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
)

const system = `Write a Go file of package throwaway with a function Sort(xs []int) that sorts xs in place. It must
be right for every input; the faster it sorts 5000 random numbers, the better. Use no other packages.`

const usage = `Gofunc evolves a Go function that sorts, scored by a test and a benchmark that run one at a time: a generation of
eight children takes about half a minute on two cores, the four by default about two minutes.

`

// What is around the function: its test, its benchmark, and a script that runs both.
var (
	//go:embed _throwaway/sort_test.go _throwaway/evaluate.sh
	around embed.FS
	//go:embed sort.go.txt
	initial string
)

func main() {
	os.Exit(cli.Main(func(ctx context.Context, args []string) error { return run(ctx, args, cli.Stdout()) }))
}

// options are the flags.
type options struct {
	rounds, children int
	seed             uint64
	model, base      string
}

func (o *options) parse(args []string) error {
	fs := flag.NewFlagSet("gofunc", flag.ContinueOnError)
	fs.IntVar(&o.rounds, "T", 4, "generations")
	fs.IntVar(&o.children, "N", 8, "children in a generation")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the search, up to 2^32-1")
	fs.StringVar(&o.model, "model", "", "what the endpoint calls the model (default: a stand-in without a network, which only changes numbers)")
	fs.StringVar(&o.base, "api-base", "", "URL of the endpoint, or of several replicas of the model, separated by commas (default: $LLM_API_BASE; the key is $LLM_API_KEY)")
	fs.Usage = func() {
		fmt.Fprint(fs.Output(), usage)
		fs.PrintDefaults()
	}
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	switch {
	case o.rounds < 1 || o.children < 1:
		return cli.Usagef("gofunc: --T is %d and --N is %d: need at least 1", o.rounds, o.children)
	case o.seed > math.MaxUint32:
		return cli.Usagef("gofunc: --seed is %d: need at most %d", o.seed, uint32(math.MaxUint32))
	case o.model == "" && o.base != "":
		return cli.Usagef("gofunc: --api-base has no effect without --model")
	}
	return nil
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	if err := o.parse(args); err != nil {
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
	evaluator, err := newEvaluator(ctx, dir)
	if err != nil {
		return err
	}
	sorting, err := task.New(task.Spec{
		Name: "sorting", Language: "go", System: system, Initial: initial,
		Evaluator: eval.Limit(evaluator, 1), // benchmarks disturb each other
	})
	if err != nil {
		return err
	}
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sorting, LLM: model, N: o.children, Seed: uint32(o.seed), Noisy: true})
	if err != nil {
		return err
	}
	return search(ctx, arm, o.rounds, stdout)
}

// search advances the arm and prints what comes of it.
func search(ctx context.Context, arm evolve.Arm, rounds int, stdout io.Writer) error {
	fmt.Fprintln(stdout, "generation         best  "+cli.CountsHead)
	result, err := evolve.Run(ctx, evolve.Config{
		Arms:   []evolve.Arm{arm},
		Budget: evolve.Budget{Rounds: rounds},
		Observer: func(e evolve.Event) {
			if g := e.Generation; e.Kind == evolve.EventGeneration {
				fmt.Fprintf(stdout, "%10d  %11.3f  %s\n", g.Index, g.Best.Result.Score, cli.Counts(g))
			}
		},
	})
	if result != nil && len(result.Arms) > 0 && result.Best.Program != "" {
		fmt.Fprintf(stdout, "\nthe standard library's speed times %.3f, at first %.3f:\n%s\n",
			result.Best.Result.Score, result.Arms[0].Start.Result.Score, result.Best.Program)
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

// newEvaluator returns what scores a function by its test and its benchmark, with what it needs in dir.
func newEvaluator(ctx context.Context, dir string) (*command.Evaluator, error) {
	// What has been compiled before is compiled already; candidates can read that, and not spoil it.
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, cli.Usagef("gofunc: asking the go command, which has to be on the PATH, where it caches: %w", err)
	}
	cache := "GOCACHE=" + strings.TrimSpace(string(out))
	template, trial := filepath.Join(dir, "template"), filepath.Join(dir, "trial")
	files, err := fs.Sub(around, "_throwaway")
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.CopyFS(template, files), os.CopyFS(trial, files),
		os.WriteFile(filepath.Join(trial, "sort.go"), []byte(initial), 0o644))
	if err != nil {
		return nil, err
	}
	// The first time, with a cache that can be written to, so that no candidate has to wait for the
	// compilation of what is around it.
	cmd := exec.CommandContext(ctx, "sh", "evaluate.sh")
	cmd.Dir, cmd.Env = trial, append(os.Environ(), "GOTOOLCHAIN=local", "GOPROXY=off", "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gofunc: trying the initial function: %w: %s", err, out)
	}
	return command.NewEvaluator(command.Config{
		Args: []string{"sh", "evaluate.sh"}, File: "sort.go", Template: template,
		Env: []string{"PATH", cache, "GOTOOLCHAIN=local", "GOPROXY=off"},
	})
}
