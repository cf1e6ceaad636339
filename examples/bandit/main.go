// Bandit spreads a budget of T·N model calls over several greedy searches that differ in their
// seeds: each round a bandit policy picks the search that gets the next generation. That has as many children as
// --breadth says, at most N. With no flags it runs for about ten seconds on a stand-in model that needs no
// network; with --model and an OpenAI-compatible endpoint in $LLM_API_BASE it does the same with a real one.
//
// What a program of your own does is here. Flags, names of files and what is printed are in
// examples/internal/cli.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
)

func main() { os.Exit(cli.Main(run)) }

func run(ctx context.Context, args []string) error {
	o, err := cli.ParseBandit(args)
	if err != nil {
		return err
	}
	// First, as a plain mistake in its flags is cheap to find.
	spec, model, err := newModel(&o.Options)
	if err != nil {
		return err
	}
	model = llm.Retry(llm.Limit(model, o.ParallelLLM), llm.RetryConfig{})
	t, end, err := newTask(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer end()
	scorer, leave, err := remote.Evaluator(ctx, &o.Options, t) // the task itself, unless --nats says that workers score
	if err != nil {
		return err
	}
	defer leave()
	t = task.WithEvaluator(t, eval.Limit(scorer, o.ParallelEval))
	policy, err := cli.Policy(o.Algo, o.Game()) // &bandit.ExpectedImprovement{T: 4096}, say
	if err != nil {
		return err
	}
	header := report.BanditHeader{
		Header: report.Header{Task: t.Name(), Model: spec, T: o.T, N: o.N, Breadth: o.Children()},
		Algo:   o.Algo, Policy: fmt.Sprint(policy), BanditSeed: o.BanditSeed, ArmSeeds: o.ArmSeeds(),
	}
	files, err := o.Open(header.Path(), t, journal.Fingerprint{ // what decides the run, beside the task and T and N
		"model": spec.String(), "algo": o.Algo, "bandit seed": fmt.Sprint(o.BanditSeed),
		"arms": fmt.Sprint(o.Arms), "arm seeds from": fmt.Sprint(o.SeedBase),
		"offline structure": fmt.Sprint(o.Structure),
	})
	if err != nil {
		return err
	}
	defer files.Close()

	result, err := search(ctx, o, t, model, policy, files.Journal)
	if result == nil || len(result.Rounds) == 0 {
		return files.Unused(result, err)
	}
	file := report.NewBandit(result, header)
	o.Summary(model, result, file)
	file.HeldOut = o.HeldOut(ctx, t, result.Best, spec)
	return files.Finish(ctx, file, result, err)
}

// search makes the run: what arms ask is limited by the budget and kept in the journal.
func search(ctx context.Context, o *cli.Bandit, t task.Task, model llm.LLM, policy bandit.Policy, j *journal.Journal) (*evolve.Result, error) {
	progress := o.Progress(ctx)
	defer progress.Close()
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{
		Task: t, LLM: model, N: o.N, Breadth: o.Children(), Seed: o.SeedBase, OnChild: progress.Child,
	}, o.Arms)
	if err != nil {
		return nil, err
	}
	return evolve.Run(ctx, evolve.Config{
		Arms:       arms,
		Policy:     policy,
		Budget:     evolve.Budget{Calls: o.T * o.N, Stalls: o.MaxStalls, RoundsPerArm: o.Cap},
		InFlight:   o.InFlight,
		Seed:       o.BanditSeed,
		Grace:      o.Grace,
		ValidStart: true,
		Journal:    j,
		Observer:   progress.Observe,
	})
}

// newTask returns what is to be improved, and what ends the processes that run its programs.
func newTask(ctx context.Context, o *cli.Options) (t task.Task, end func() error, err error) {
	problem, builtIn, err := o.Problem()
	switch {
	case err != nil:
		return nil, nil, err
	case !builtIn: // a folder with an initial_program and an evaluator.py
		f, err := folder.Load(ctx, o.Task, folder.Config{Python: python.Config{
			Workers: o.ParallelEval, Timeout: o.FolderTimeout(), Hide: o.NATS.Secrets(),
		}})
		if err != nil {
			return nil, nil, &cli.UsageError{Err: err}
		}
		return o.WithHints(ctx, f, f.Close)
	case o.Runtime == "python":
		runner, err := python.NewRunner(ctx, python.Config{
			Timeout: o.EvalTimeout, Workers: o.ParallelEval, Imports: []string{"numpy"}, Hide: o.NATS.Secrets(),
		})
		if err != nil {
			return nil, nil, cli.Usagef("--runtime python needs Python 3.9 or newer with numpy (--runtime js needs nothing): %w", err)
		}
		if t, err = problem.Task(runner, "python"); err != nil {
			return nil, nil, errors.Join(err, runner.Close())
		}
		return o.WithHints(ctx, t, runner.Close)
	}
	runner, err := js.New(js.Config{Timeout: o.EvalTimeout})
	if err != nil {
		return nil, nil, err
	}
	if t, err = problem.Task(runner, "javascript"); err != nil {
		return nil, nil, err
	}
	return o.WithHints(ctx, t, func() error { return nil })
}

// newModel returns who proposes, and what its calls are charged as.
func newModel(o *cli.Options) (spec llm.Model, model llm.LLM, err error) {
	if o.Offline() { // a stand-in that needs no network
		stand, err := offline.New(offline.Config{Latency: o.Latency, Structure: o.Structure, Prose: 1})
		if err != nil {
			return spec, nil, err
		}
		return stand.Spec(), stand, nil
	}
	// One client, a pool of clients where there are several URLs, or an ensemble where there are several models.
	return o.Connect(func(m llm.Model, base string) (llm.LLM, error) {
		return openai.New(openai.Config{BaseURL: base, Model: m, Stream: o.Stalls, Whole: !o.Stream})
	})
}
