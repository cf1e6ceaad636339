// Package open makes the task and the model that flags name.
package open

import (
	"context"
	"errors"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
)

// Task returns the task, and a function that ends the processes of its programs.
func Task(ctx context.Context, o *cli.Options) (t task.Task, end func() error, err error) {
	if t, end, err = unbounded(ctx, o); err != nil {
		return nil, nil, err
	}
	return o.Bounded(t), end, nil
}

// unbounded returns the task with prompts that show all.
func unbounded(ctx context.Context, o *cli.Options) (t task.Task, end func() error, err error) {
	if o.IsTree() {
		t, err := o.TreeTask(ctx)
		return t, func() error { return nil }, err
	}
	problem, builtIn, err := o.Problem()
	switch {
	case err != nil:
		return nil, nil, err
	case !builtIn: // a folder with an initial_program and an evaluator.py
		f, err := folder.Load(ctx, o.Task, folder.Config{Python: o.Python()})
		if err != nil {
			return nil, nil, &cli.UsageError{Err: err}
		}
		if f.Folder().Tree != nil && o.Offline() {
			return nil, nil, errors.Join(cli.Usagef("--task %s has a program of several files, and needs a --model: the "+
				"offline one changes the numbers of single programs", o.Task), f.Close())
		}
		return o.WithHints(ctx, f, f.Close)
	case o.Runtime == "python":
		cfg := o.Python()
		cfg.Timeout, cfg.Imports = o.EvalTimeout, []string{"numpy"}
		runner, err := python.NewRunner(ctx, cfg)
		if err != nil {
			return nil, nil, cli.Usagef("--runtime python needs Python 3.9 or newer with numpy (--runtime js needs nothing): %w",
				err)
		}
		if t, err = problem.Task(runner, "python"); err != nil {
			return nil, nil, errors.Join(err, runner.Close())
		}
		return o.WithHints(ctx, t, runner.Close)
	}
	runner, err := js.New(js.Config{Timeout: o.EvalTimeout, CPU: o.EvalCPU})
	if err != nil {
		return nil, nil, err
	}
	if t, err = problem.Task(runner, "javascript"); err != nil {
		return nil, nil, err
	}
	return o.WithHints(ctx, t, func() error { return nil })
}

// Model returns who proposes, and what its calls are charged as. standIn says what the offline model can do, if it is
// that.
func Model(o *cli.Options, standIn offline.Config) (spec llm.Model, who cli.Proposing, err error) {
	if o.Offline() {
		return o.StandIn(standIn)
	}
	// Of each model one client, or a pool of clients where there are several URLs.
	return o.Connect(func(m llm.Model, base string) (llm.LLM, error) {
		return openai.New(o.Client(m, base))
	})
}
