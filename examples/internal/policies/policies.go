// Package policies is the command policies. It measures allocation policies without a model: on the simulated arms of
// bandit/sim, or over searches that were logged.
//
//	evoalloc policies
//	evoalloc policies --policies one,challenge,ei --families ideas,rare-luck --T 2048
//	evoalloc policies --logs results/cp/qwen3-8b/greedy_*.json --K 5 --T 256
package policies

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve/replay"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// options are the flags.
type options struct {
	policies, families string
	arms, calls, runs  int
	seed               uint64
	logs               []string
	than               string // the policy above which the others' gains are shown
}

// Run runs the command.
func Run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	fs := cli.NewFlags("policies", "[flags] [LOG...]: compare bandit policies on simulated or logged searches, without a model")
	fs.StringVar(&o.policies, "policies", "one,challenge,ei,ucb,thompson,exp3p,random",
		"policies to compare with the first: one (one search with the whole budget), "+
			strings.Join(cli.PolicyKeys(), ", ")+"; or all")
	fs.StringVar(&o.families, "families", "all", "families of simulated arms: "+strings.Join(familyNames(), ", ")+"; or all")
	fs.IntVar(&o.arms, "K", 10, "arms, which are searches")
	fs.IntVar(&o.calls, "T", 512, "model calls of a run")
	fs.IntVar(&o.runs, "runs", 50, "runs of each policy in each family")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of the first run; the others have those after it")
	fs.Func("logs", "play over the searches of result `files`, or groups of scores, in place of families\nMore may "+
		"follow the flags. Of one bandit's file it also estimates what other policies would have earned in its rounds.",
		func(path string) error { o.logs = append(o.logs, path); return nil })
	rest, err := cli.ParseArgs(fs, args)
	if err != nil {
		return err
	}
	if o.arms < 1 || o.calls < 1 || o.runs < 1 {
		return cli.Usagef("policies: --K %d --T %d --runs %d: need at least 1 of each", o.arms, o.calls, o.runs)
	}
	contenders, err := o.contenders()
	if err != nil {
		return err
	}
	if o.logs = append(o.logs, rest...); len(o.logs) > 0 {
		return o.replay(ctx, contenders, stdout)
	}
	return o.simulate(ctx, contenders, stdout)
}

// familyNames returns the names of the simulated families.
func familyNames() (names []string) {
	for _, f := range sim.Families() {
		names = append(names, f.String())
	}
	return names
}

// listed returns the names of a flag's list; all is what "all" stands for.
func listed(flag, list string, all []string) ([]string, error) {
	if list == "all" {
		return all, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, cli.Usagef("--%s: unknown %q: it is one of %s; or all", flag, name, strings.Join(all, ", "))
		}
	}
	return names, nil
}

// contenders returns the policies of --policies.
func (o *options) contenders() (some []sim.Contender, err error) {
	names, err := listed("policies", o.policies, append([]string{"one"}, cli.PolicyKeys()...))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		c := sim.Contender{Name: name, New: func(s sim.Setting) bandit.Policy {
			p, _ := cli.Policy(name, cli.Game{T: s.Rounds, Calls: s.Calls()}) // the name is known
			return bandit.Rescale(p)                                          // as a run does
		}}
		if name == "one" {
			c.Arms, c.New = 1, func(sim.Setting) bandit.Policy { return bandit.Random{} }
		}
		some = append(some, c)
	}
	o.than = names[0]
	return some, nil
}

// simulate plays the policies over simulated arms.
func (o *options) simulate(ctx context.Context, contenders []sim.Contender, stdout io.Writer) error {
	names, err := listed("families", o.families, familyNames())
	if err != nil {
		return err
	}
	cfg := sim.StudyConfig{Contenders: contenders, Seed: o.seed, Runs: o.runs}
	for _, name := range names {
		cfg.Settings = append(cfg.Settings, sim.Setting{Family: sim.Named(name), Arms: o.arms, Rounds: o.calls})
	}
	cells, err := sim.Study(ctx, cfg)
	if err != nil {
		return err
	}
	rows := [][]string{{"policy", "mean", "worst family", ""}}
	for _, c := range contenders {
		g := sim.GainOver(cells, c.Name, o.than)
		rows = append(rows, []string{c.Name, g.Mean.String(), g.Worst.String(), fmt.Sprint(g.WorstAt.Family)})
	}
	title := fmt.Sprintf("K=%d arms, T=%d calls, %d runs of %d families: final best less that of %s, as a share of what "+
		"there is to gain [95 %%]", o.arms, o.calls, o.runs, len(cells), o.than)
	return table(stdout, title, rows)
}

// replay plays the policies over logged searches.
func (o *options) replay(ctx context.Context, contenders []sim.Contender, stdout io.Writer) error {
	if groups, err := replay.ReadScores(o.logs[0]); err == nil && len(groups) > 0 {
		return o.groups(ctx, contenders, groups, stdout)
	}
	l, err := replay.ReadFiles(o.logs...)
	if err != nil {
		return cli.Usagef("--logs: %w", err)
	}
	cell, err := o.play(ctx, contenders, l)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%d of %d logged searches of %s", cell.Setting.Arms, len(l.Arms), l.Task)
	if err := o.show(cell, title, stdout); err != nil || l.Run == nil || l.Run.Propensities == nil {
		return err
	}
	return estimate(l, cell.Setting, contenders, stdout)
}

// groups compares the policies by their mean in each group of searches, so that intervals are over groups.
func (o *options) groups(ctx context.Context, contenders []sim.Contender, logs []replay.Log, stdout io.Writer) error {
	all := sim.Cell{Entries: make([]sim.Entry, len(contenders)+1)}
	for _, l := range logs {
		cell, err := o.play(ctx, contenders, l)
		if err != nil {
			return err
		}
		all.Start = append(all.Start, sim.Mean(cell.Start).Value)
		all.Oracle = append(all.Oracle, sim.Mean(cell.Oracle).Value)
		for i, e := range cell.Entries {
			all.Entries[i] = sim.Entry{Name: e.Name, Final: append(all.Entries[i].Final, sim.Mean(e.Final).Value)}
		}
	}
	return o.show(all, fmt.Sprintf("%d groups of logged searches", len(logs)), stdout)
}

// play plays the policies over searches of a log, K of them in another order in each run.
func (o *options) play(ctx context.Context, contenders []sim.Contender, l replay.Log) (sim.Cell, error) {
	s := sim.Setting{Arms: min(o.arms, len(l.Arms)), Rounds: o.calls}
	cell := sim.Cell{Setting: s, Entries: make([]sim.Entry, len(contenders))}
	for run := range uint64(o.runs) {
		if ctx.Err() != nil {
			return cell, ctx.Err()
		}
		arms := make([]replay.Arm, s.Arms)
		start, oracle := math.Inf(-1), math.Inf(-1)
		for i, from := range rand.New(rand.NewPCG(o.seed+run, 0)).Perm(len(l.Arms))[:s.Arms] {
			arms[i] = l.Arms[from]
			start, oracle = max(start, arms[i].Best[0]), max(oracle, arms[i].After(o.calls))
		}
		cell.Start, cell.Oracle = append(cell.Start, start), append(cell.Oracle, oracle)
		for i, c := range contenders {
			played, err := replay.Play(c.New(s), arms[:cmp.Or(c.Arms, s.Arms)],
				replay.Config{Calls: o.calls, Seed: o.seed + run})
			if err != nil {
				return cell, err
			}
			e := &cell.Entries[i]
			e.Name, e.Final = c.Name, append(e.Final, played.Best[len(played.Best)-1])
		}
	}
	cell.Entries = append(cell.Entries, sim.Entry{Name: "hindsight", Final: cell.Oracle})
	return cell, nil
}

// show shows how the policies did.
func (o *options) show(cell sim.Cell, of string, stdout io.Writer) error {
	rows := [][]string{{"policy", "final best", "above " + o.than}}
	for _, e := range cell.Entries {
		rows = append(rows, []string{e.Name, sim.Mean(e.Final).String(),
			sim.GainOver([]sim.Cell{cell}, e.Name, o.than).Mean.String()})
	}
	of += fmt.Sprintf(", T=%d calls, %d runs: gains as a share of what there is to gain [95 %%]", o.calls, o.runs)
	return table(stdout, of, rows)
}

// estimate shows what policies would have earned in the rounds of a bandit's run.
func estimate(l replay.Log, s sim.Setting, contenders []sim.Contender, stdout io.Writer) error {
	rows := [][]string{{"policy", "self-normalized", "inverse propensity", "unreliable, as"}}
	for _, c := range contenders {
		if c.Arms > 0 {
			continue // one search has no choice to estimate
		}
		steps, err := l.Along(func() bandit.Policy { return c.New(s) }, 0)
		if err != nil {
			return err
		}
		e, err := replay.OffPolicy(steps)
		if err != nil {
			rows = append(rows, []string{c.Name, "", "", err.Error()})
			continue
		}
		rows = append(rows, []string{c.Name, e.SelfNormalized.String(), e.IPS.String(), e.Warning()})
	}
	title := fmt.Sprintf("\nmean reward in the rounds of the log, which are %s's: estimates from its propensities [95 %%]",
		l.Run.Algo)
	return table(stdout, title, rows)
}

// table aligns rows under a title.
func table(out io.Writer, title string, rows [][]string) error {
	fmt.Fprintln(out, title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	return w.Flush()
}
