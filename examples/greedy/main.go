// Greedy evolves one program with one greedy search in T·N model calls: each generation rewrites the best program
// so far, and has as many children as --breadth says, at most N. With --window, a better child is the parent of those
// begun after it. With no flags it runs for about ten seconds on a stand-in model that needs no network; with
// --model and an OpenAI-compatible endpoint in $LLM_API_BASE it does the same with a real one.
//
// What a program of your own does is here. The task and the model are made in examples/internal/open. Flags, names of
// files and what is printed are in examples/internal/cli.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

func main() { os.Exit(cli.Main(run)) }

func run(ctx context.Context, args []string) error {
	o, err := cli.ParseGreedy(args)
	if err != nil {
		return err
	}
	// First, as a plain mistake in its flags is cheap to find.
	spec, model, err := open.Model(&o.Options, offline.Config{Structure: o.Structure, Prose: 1})
	if err != nil {
		return err
	}
	model = llm.Retry(llm.Limit(model, o.ParallelLLM), llm.RetryConfig{})
	t, end, err := open.Task(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer end()
	scorer, leave, err := remote.Evaluator(ctx, &o.Options, t) // the task itself, unless --nats says that workers score
	if err != nil {
		return err
	}
	defer leave()
	t = task.WithEvaluator(t, o.Guarded(t, eval.Limit(scorer, o.ParallelEval)))
	header := report.Header{Task: t.Name(), Model: spec, T: o.T, N: o.N, Breadth: o.Children()}
	files, err := o.Open(header.GreedyPath(o.Seed), t, o.Decides(o.Fingerprint(journal.Fingerprint{ // what decides the run, beside the task and T and N
		"model": spec.String(), "seed": fmt.Sprint(o.Seed), "window": fmt.Sprint(o.Window), "order": o.Order.String(),
		"offline structure": fmt.Sprint(o.Structure),
	})))
	if err != nil {
		return err
	}
	defer files.Close()

	result, err := search(ctx, o, t, model, files.Journal)
	if result == nil || len(result.Rounds) == 0 {
		return files.Unused(result, err)
	}
	file := report.NewGreedy(result, header, o.Seed)
	o.Summary(model, result, file)
	file.HeldOut = o.HeldOut(ctx, t, result.Best, spec)
	return files.Finish(ctx, file, result, err)
}

// search makes the run: what the arm asks is limited by the budget and kept in the journal.
func search(ctx context.Context, o *cli.Greedy, t task.Task, model llm.LLM, j *journal.Journal) (*evolve.Result, error) {
	progress := o.Progress(ctx)
	defer progress.Close()
	greedy, err := evolve.NewGreedy(evolve.GreedyConfig{
		Task: t, LLM: model, N: o.N, Breadth: o.Children(), Seed: o.Seed, Window: o.Window, Order: o.Order, Noisy: o.Noisy, OnChild: progress.Child,
	})
	if err != nil {
		return nil, err
	}
	arm, err := o.Audited(t, greedy)
	if err != nil {
		return nil, err
	}
	return evolve.Run(ctx, evolve.Config{
		Arms:       []evolve.Arm{arm},
		Budget:     evolve.Budget{Calls: o.T * o.N, Stalls: o.MaxStalls},
		Grace:      o.Grace,
		ValidStart: true,
		Journal:    j,
		Observer:   progress.Observe,
	})
}
