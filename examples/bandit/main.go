// Bandit spreads a budget of T·N model calls over several greedy searches that differ in their
// seeds: each round a bandit policy picks the search that gets the next generation. With no flags it
// runs for about ten seconds on a stand-in model that needs no network; with --model and an
// OpenAI-compatible endpoint in $LLM_API_BASE it does the same with a real one.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func main() { os.Exit(cli.Main(run)) }

// maxArms is the most searches; more would not get a generation each in any run.
const maxArms = 100_000

// options are the flags that only this example has.
type options struct {
	cli.Options
	algo       string
	arms       int
	seedBase   uint64
	banditSeed uint64
	cap        int
	inFlight   int
}

func (o *options) parse(args []string) error {
	fs := flag.NewFlagSet("bandit", flag.ContinueOnError)
	o.Register(fs)
	fs.StringVar(&o.algo, "algo", "ei", "the policy: "+strings.Join(cli.PolicyKeys(), ", "))
	fs.IntVar(&o.arms, "n-arms", 10, "number of searches")
	fs.Uint64Var(&o.seedBase, "arm-seed-base", 40, "seed of the first search; the others follow")
	fs.Uint64Var(&o.banditSeed, "bandit-seed", 0, "seed of the policy's draws")
	fs.IntVar(&o.cap, "T-cap-per-arm", 0, "most rounds that one search gets (default: no limit)")
	fs.IntVar(&o.inFlight, "in-flight", 1, "searches advanced at once")
	if err := o.Parse(fs, args); err != nil {
		return err
	}
	switch {
	case o.arms < 1:
		return cli.Usagef("--n-arms is %d: need at least 1", o.arms)
	case o.arms > maxArms:
		return cli.Usagef("--n-arms is %d: need at most %d", o.arms, maxArms)
	case o.cap < 0:
		return cli.Usagef("--T-cap-per-arm is %d: need 0 for no limit, or more", o.cap)
	case o.inFlight < 1:
		return cli.Usagef("--in-flight is %d: need at least 1", o.inFlight)
	case o.seedBase+uint64(o.arms)-1 > math.MaxUint32:
		return cli.Usagef("--arm-seed-base is %d: need at most %d for %d searches", o.seedBase, math.MaxUint32-uint64(o.arms)+1, o.arms)
	}
	return nil
}

func run(ctx context.Context, args []string) error {
	var o options
	if err := o.parse(args); err != nil {
		return err
	}
	policy, err := cli.Policy(o.algo, cli.Game{T: o.T, Ceiling: o.Ceiling()})
	if err != nil {
		return err
	}
	s, err := o.Setup()
	if err != nil {
		return err
	}
	defer s.Close()
	header := report.BanditHeader{
		Header: report.Header{Task: s.Task.Name(), Model: s.Model, T: o.T, N: o.N},
		Algo:   o.algo, Policy: fmt.Sprint(policy), BanditSeed: o.banditSeed, ArmSeeds: o.armSeeds(),
	}
	saver, err := cli.NewSaver(o.Output, header.Path(), s.Task)
	if err != nil {
		return err
	}

	j, err := o.OpenJournal(ctx, s, saver, journal.Fingerprint{
		"algo": o.algo, "arms": fmt.Sprint(o.arms), "arm seeds from": fmt.Sprint(o.seedBase), "bandit seed": fmt.Sprint(o.banditSeed),
	})
	if err != nil {
		return err
	}
	defer j.Close()

	progress := cli.NewProgress(ctx, o.T*o.N, "round  arm  chance   gen   arm's best         best  "+cli.CountsHead)
	result, err := o.search(ctx, s, policy, j, progress)
	progress.Close()
	if result == nil {
		return err
	}
	file := report.NewBandit(result, header)
	arms(file)
	o.Summary(result, file.ArmResults[0].Trajectory[0].BestFitness, file.FLOPs)
	if s.Pool != nil {
		cli.Printf("%v\n", s.Pool.Report())
	}
	return o.Finish(saver, file, result, err)
}

func (o *options) armSeeds() []uint32 {
	seeds := make([]uint32, o.arms)
	for i := range seeds {
		seeds[i] = uint32(o.seedBase) + uint32(i)
	}
	return seeds
}

// search is the example proper.
func (o *options) search(ctx context.Context, s *cli.Setup, policy bandit.Policy, j *journal.Journal, progress *cli.Progress) (*evolve.Result, error) {
	budget := o.Budget()
	budget.RoundsPerArm = o.cap
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{
		Task: s.Task, LLM: s.LLM, N: o.N, Seed: uint32(o.seedBase), OnChild: progress.Child,
	}, o.arms)
	if err != nil {
		return nil, err
	}
	return evolve.Run(ctx, evolve.Config{
		Arms:     arms,
		Policy:   policy,
		Budget:   budget,
		InFlight: o.inFlight,
		Seed:     o.banditSeed,
		Grace:    o.Grace,
		Journal:  j,
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration {
				g := e.Generation
				progress.Printf("%5d  %3d  %6.2f  %4d  %11.6f  %11.6f  %s",
					e.Pull.ID+1, e.Pull.Arm, e.Pull.Prob, g.Index, g.Best.Result.Score, e.Best.Result.Score, cli.Counts(g))
				progress.Complain(g)
			}
		},
	})
}

// arms prints what each search got and came to.
func arms(r report.Bandit) {
	cli.Printf("\n")
	var rows [][]string
	for i, seed := range r.ArmSeeds {
		rows = append(rows, []string{fmt.Sprint(i), fmt.Sprint(seed), fmt.Sprint(r.ArmPulls[i]),
			fmt.Sprintf("%.6f", r.ArmFitness[i]), fmt.Sprintf("%.4g", r.ArmResults[i].FLOPs.WorstCase.TotalFLOPs)})
	}
	cli.Table([]string{"arm", "seed", "pulls", "best", "FLOPs"}, rows)
}
