// Populations evolves one program in T·N model calls with a search that keeps many: by default with two operators under
// a bandit, with --like NAME as another system does, and with --portfolio with several such searches as the arms of a
// bandit, which finds out which one to go on with. --tune N also tunes the numbers of programs without a model. --list prints
// their names. With no flags it runs for about ten seconds on a
// stand-in model that needs no network; with --model and an OpenAI-compatible endpoint in $LLM_API_BASE it does the same
// with a real one.
//
// What a program of your own does is here and in examples/internal/lab/peers. The task and the model are made in
// examples/internal/open. Flags, names of files and what is printed are in examples/internal/cli.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/peers"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func main() { os.Exit(cli.Main(run)) }

func run(ctx context.Context, args []string) error {
	o, err := cli.ParsePopulations(args)
	if err != nil {
		return err
	}
	if o.List {
		o.PrintList()
		return nil
	}
	standIn := peers.Offline(o.Structure)
	// First, as a plain mistake in its flags is cheap to find.
	spec, model, err := open.Model(&o.Options, standIn.Config())
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
	policy, err := cli.Policy(o.Policy, o.Game())
	if err != nil {
		return err
	}
	var progress *cli.Progress // begins with the run
	arms, err := newArms(o, t, model, func(c evolve.Child) { progress.Child(c) })
	if err != nil {
		return err
	}
	f := form{o, report.Header{Task: t.Name(), Model: spec, T: o.T, N: o.N, Breadth: o.Children()}, policy}
	files, err := o.Open(f.path(), t, journal.Fingerprint{ // what decides the run, beside the task and T and N
		"model": spec.String(), "offline": standIn.String(), "searches": fmt.Sprint(o.Kinds(), arms),
		"policy": o.Policy, "bandit seed": fmt.Sprint(o.BanditSeed),
	})
	if err != nil {
		return err
	}
	defer files.Close()

	progress = o.Progress(ctx)
	result, err := search(ctx, o, arms, policy, files.Journal, progress.Observe)
	progress.Close()
	if result == nil || len(result.Rounds) == 0 {
		return files.Unused(result, err)
	}
	file, searches, cost, ledgers := f.report(result)
	o.Summary(model, result, searches, cost, ledgers)
	return files.Finish(ctx, with(file, o.HeldOut(ctx, t, result.Best, spec)), result, err)
}

// newArms returns the searches, each with the seed after that of the one before.
func newArms(o *cli.Populations, t task.Task, model llm.LLM, onChild func(evolve.Child)) (arms []evolve.Arm, err error) {
	for i, seed := range o.Seeds() {
		cfg := o.Like[i].Config(peers.Setting{
			Task: t, LLM: model, N: o.N, Seed: seed, Breadth: o.Children(), Window: o.Window, Order: o.Order, Noisy: o.Noisy, OnChild: onChild,
		})
		if o.Tune > 0 {
			cfg = tuned(cfg)
		}
		p, err := population.New(cfg)
		if err != nil {
			return nil, err
		}
		arm, err := o.Audited(t, p)
		if err != nil {
			return nil, err
		}
		arms = append(arms, arm)
	}
	return arms, nil
}

// tuned returns a search that tunes the numbers of its programs as well.
func tuned(cfg population.Config) population.Config {
	if len(cfg.Operators) == 0 {
		cfg.Operators = []population.Operator{population.Rewrite{}}
	}
	cfg.Operators = append(cfg.Operators, &tune.Tuner{})
	if shares, ok := cfg.Policy.(population.Shares); ok {
		cfg.Policy = append(shares, slices.Max(shares)) // drawn as often as what is drawn most
	}
	return cfg
}

// search makes the run: what arms ask is limited by the budget and kept in the journal.
func search(ctx context.Context, o *cli.Populations, arms []evolve.Arm, policy bandit.Policy, j *journal.Journal, observe func(evolve.Event)) (*evolve.Result, error) {
	return evolve.Run(ctx, evolve.Config{
		Arms:       arms,
		Policy:     policy, // of one arm it has nothing to decide
		Budget:     evolve.Budget{Calls: o.T * o.N, TuneEvaluations: o.Tune, Stalls: o.MaxStalls},
		Seed:       o.BanditSeed,
		Grace:      o.Grace,
		ValidStart: true,
		Journal:    j,
		Observer:   observe,
	})
}

// A form is what the result's file says of the run beside the result: of one search, or of a bandit over several.
type form struct {
	o      *cli.Populations
	header report.Header
	policy bandit.Policy
}

func (f form) one() report.Header {
	f.header.Kind = f.o.Like[0].Name
	return f.header
}

func (f form) several() report.BanditHeader {
	return report.BanditHeader{Header: f.header, Algo: f.o.Policy, Policy: fmt.Sprint(f.policy),
		BanditSeed: f.o.BanditSeed, ArmSeeds: f.o.Seeds(), Kinds: f.o.Kinds()}
}

// path returns where the file is to be.
func (f form) path() string {
	if f.o.Portfolio {
		return f.several().Path()
	}
	return f.one().GreedyPath(f.o.Seed)
}

// report returns the file, and what the summary shows of it.
func (f form) report(r *evolve.Result) (file any, searches []report.Search, cost report.Cost, ledgers report.Ledgers) {
	if !f.o.Portfolio {
		one := report.NewGreedy(r, f.one(), f.o.Seed)
		return one, []report.Search{one.Search}, one.FLOPs, one.Ledgers
	}
	b := report.NewBandit(r, f.several())
	for _, arm := range b.ArmResults {
		searches = append(searches, arm.Search)
	}
	return b, searches, b.FLOPs, b.Ledgers
}

// with returns the file with the held-out score.
func with(file any, held *report.HeldOut) any {
	switch f := file.(type) {
	case report.Greedy:
		f.HeldOut = held
		return f
	case report.Bandit:
		f.HeldOut = held
		return f
	}
	return file
}
