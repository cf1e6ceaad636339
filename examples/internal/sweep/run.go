// Package sweep is the command sweep. It finds out how a budget of model calls is best split between depth
// (generations) and breadth (children in each), and what bandits and populations add: it makes a grid of runs over
// tasks, models, methods, budgets and seeds. With no flags it splits budgets of 16 to 128 calls in all ways that
// are powers of two, on a stand-in model that needs no network; with --model and an OpenAI-compatible endpoint in
// $LLM_API_BASE it does the same with a real one.
//
// It can be stopped or killed at any time. The same command goes on, and no call whose answer is known is made again.
//
// What a program of your own does is here. Flags are in options.go, and what is shown while it runs in progress.go.
package sweep

import (
	"context"
	"errors"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func Run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	cli.OutlivePipes()
	plan, end, err := newPlan(ctx, o)
	defer end()
	if err != nil {
		return err
	}
	cost, err := plan.Cost()
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	cli.Printf("%d runs of %d calls have %d cells, which would take %d calls as runs of their own\n",
		cost.Runs, cost.Calls, cost.Cells, cost.Naive)

	page, err := o.watch()
	if err != nil {
		return err
	}
	defer page.Close()
	progress := newProgress(ctx, plan, cost.Calls, o.Workers)
	result, err := plan.Run(ctx, sweep.Config{
		Dir:         o.Output,
		Calls:       o.ParallelLLM,
		Retry:       o.retry(),
		Evaluations: o.ParallelEval,
		AtOnce:      o.atOnce,
		Stalls:      o.MaxStalls,
		Grace:       o.Grace,
		StopWhen:    o.stopWhen,
		Read:        o.read,
		Command:     o.Recorded(),
		Observer:    progress.observe,
	})
	progress.close()
	switch {
	case result == nil && ctx.Err() != nil: // stopped while it looked for what is finished
		return cli.ErrCanceled
	case result == nil || errors.Is(err, sweep.ErrOther): // nothing was begun, or the flags are those of another sweep
		return &cli.UsageError{Err: err}
	}
	summary(plan, result, o.Output)
	if err == nil && ctx.Err() != nil {
		err = cli.ErrCanceled
	}
	if o.Watch.On {
		err = errors.Join(err, saveStudies(ctx, o.Output))
	}
	return page.Stay(ctx, err)
}

// newPlan returns the grid that the flags name, and what ends the processes that run its programs.
func newPlan(ctx context.Context, o *options) (p sweep.Plan, end func(), err error) {
	var ends []func() error
	end = func() {
		for _, e := range slices.Backward(ends) {
			e()
		}
	}
	p = sweep.Plan{Methods: o.newMethods(), Budgets: o.budgets, Seeds: o.newSeeds(), Fingerprint: journal.Fingerprint{
		"runtime": o.Runtime, "limit of an evaluation": o.EvalTimeout.String(),
	}}
	if p.Tasks, ends, err = newTasks(ctx, o); err != nil {
		return p, end, err
	}
	for _, t := range p.Tasks {
		if err := o.CheckCases(t, slices.Min(o.budgets)); err != nil {
			return p, end, err
		}
	}
	models, err := o.Each()
	if err != nil {
		return p, end, err
	}
	for _, one := range models {
		spec, who, err := open.Model(one, o.standIn().Config())
		if err != nil {
			return p, end, err
		}
		if who.Proposers != nil {
			return p, end, cli.Usagef("--operators and --prompt have no effect on a sweep: each run asks one model in one way")
		}
		if one.Offline() {
			p.Fingerprint["offline"] = o.standIn().String()
		}
		p.Models = append(p.Models, sweep.Model{Spec: spec, LLM: who.LLM, Settings: one.Settings([]llm.Model{spec})})
	}
	return p, end, nil
}

// newTasks returns the tasks that the flags name, which score their programs unless --nats says that workers do,
// and what ends them, last to first.
func newTasks(ctx context.Context, o *options) (tasks []task.Task, ends []func() error, err error) {
	for _, key := range o.tasks {
		t, end, err := open.Task(ctx, o.of(key))
		if err != nil {
			return nil, ends, err
		}
		tasks, ends = append(tasks, t), append(ends, end)
	}
	queue, err := remote.Open(&o.Options)
	if err != nil {
		return nil, ends, err
	}
	ends = append(ends, func() error { queue.Leave(); return nil })
	for i, t := range tasks {
		scorer, err := queue.Evaluator(ctx, o.of(o.tasks[i]), t)
		if err != nil {
			return nil, ends, err
		}
		tasks[i] = task.WithEvaluator(t, scorer)
	}
	return tasks, ends, nil
}

// of returns the flags of one of the tasks.
func (o *options) of(key string) *cli.Options {
	one := o.Options
	one.Task = key
	return &one
}

// newMethods returns what the budgets are spent by.
func (o *options) newMethods() (methods []sweep.Method) {
	for _, name := range o.methods {
		if name == "greedy" {
			for _, n := range o.splits {
				methods = append(methods, sweep.Greedy(n))
			}
			continue
		}
		if peer, err := peers.Named(name); err == nil {
			methods = append(methods, newPopulation(peer, o.N))
			continue
		}
		methods = append(methods, sweep.Bandit(name, o.N, o.arms, func(rounds, calls int) bandit.Policy {
			p, err := cli.Policy(name, cli.Game{T: rounds, Calls: calls})
			if err != nil {
				panic(err) // parse has checked the name
			}
			return p
		}))
	}
	return methods
}

// newPopulation returns another system's search as a method. Those with one program are strict, as the paper's are.
func newPopulation(peer peers.Peer, n int) sweep.Method {
	return sweep.Method{Name: peer.Name, N: n, New: func(s sweep.Setup) (sweep.Searches, error) {
		p, err := population.New(peer.Config(population.Config{
			Task: s.Task, LLM: s.LLM, N: s.N, Seed: s.Seed, Archive: population.Top(1)}))
		return sweep.Searches{Arms: []evolve.Arm{p}}, err
	}}
}
