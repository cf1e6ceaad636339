// Package policies is the command policies. It measures allocation policies on simulated searches, without a model. It
// plays each of them over families of arms, on paired seeds, and prints how well they do, how soon they reach a score
// reliably, and where each does worst. Without flags it plays a few of them in a short study. All policies over all
// families take minutes.
//
//	evoalloc policies
//	evoalloc policies --policies all --families all --runs 100
//	evoalloc policies --policies ucb,thompson --families synthetic --K 10,100 --runs 500
//	evoalloc policies --policies one,ei,ei@adaptive --families unlike --T 16 --N 64 --slots 16
//	evoalloc policies --policies one@1,one@64,one@1024 --than one@1 --families deciding --T 16 --N 64 --slots 16 --window 16
//	evoalloc policies --csv runs.csv --plots plots
//	evoalloc policies --estimate results/bandit/cp/offline/thompson_C4096_T64_K10_seed0.json
//	evoalloc policies --logs 'results/cp/qwen3-8b/greedy_*.json' --K 5 --T 8
//	evoalloc policies --bank results/banks/cp-N1.json
//
// A policy of your own joins by one line in contenders.go.
package policies

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

// quickFlags are the flags where none is given, and wholeFlags those of all policies and families.
const (
	quickFlags = "--policies ei,one,ucb,thompson,exp3p,halving,random --families synthetic --runs 20"
	wholeFlags = "--policies all --families all --runs 100"
)

func Run(ctx context.Context, args []string, stdout io.Writer) error {
	args = cli.Quick(stdout, "policies", args, quickFlags, wholeFlags)
	var o options
	fs := cli.NewFlags("policies", "[flags]: play bandit policies on simulated searches, without a model",
		"policies", "families", "K", "N", "T", "runs", "seed", "bank", "logs", "estimate", "baselines", "than", "csv",
		"plots", "config")
	o.register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	o.given = map[string]bool{}
	fs.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	cfg, err := o.study()
	if err != nil {
		return err
	}
	if o.estimate != "" {
		text, err := o.estimateTable(cfg.Contenders)
		fmt.Fprint(stdout, text)
		return err
	}
	groups, err := o.groups()
	if err != nil {
		return err
	}
	if err := raced(cfg, groups); err != nil {
		return err
	}
	baselines, err := o.against(cfg.Contenders)
	if err != nil {
		return err
	}
	out, err := newOutput(o)
	if err != nil {
		return err
	}
	defer out.close()
	start := time.Now()
	p := cli.NewCounter(stdout, settings(groups)*o.runs, "runs")
	cfg.Progress = p.Step
	err = play(ctx, cfg, groups, p, out, baselines, o.than)
	p.Close()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(stdout, "stopped; the settings printed are complete")
		return cli.ErrCanceled
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d runs of each policy in each setting, seeds %d to %d, in %.0f s\n",
		o.runs, o.seed, o.seed+uint64(o.runs)-1, time.Since(start).Seconds())
	return out.close()
}

// settings counts those of all groups.
func settings(groups [][]sim.Setting) (n int) {
	for _, group := range groups {
		n += len(group)
	}
	return n
}

// play plays every setting and reports it when it is complete, and each group when all of it is.
func play(ctx context.Context, cfg race.StudyConfig, groups [][]sim.Setting, p *cli.Counter, out *output,
	baselines []string, than string) error {
	for _, group := range groups {
		var cells []sim.Cell
		for _, s := range group {
			cfg.Settings = []sim.Setting{s}
			cell, err := race.Study(ctx, cfg)
			if errors.Is(err, context.Canceled) && len(cells) > 0 {
				p.Print(fmt.Sprintf("stopped; the tables below are incomplete, of %d of %d families\n", len(cells), len(group)))
				p.Print(overallTable(cells) + gainTable(cells, than, baselines) + comparisons(cells, baselines))
			}
			if err != nil {
				return err
			}
			cells = append(cells, cell...)
			p.Print(cellTable(cell[0]))
			if err := out.cell(cell[0], cfg.Seed); err != nil {
				return err
			}
		}
		p.Print(overallTable(cells) + gainTable(cells, than, baselines) + comparisons(cells, baselines))
		if err := out.group(cells); err != nil {
			return err
		}
	}
	return nil
}
