package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// banditOptions are the flags of the bandit command.
type banditOptions struct {
	cli.Options
	algo     string
	arms     int
	base     uint64 // the first search's seed
	seed     uint64 // of the policy
	cap      int
	inFlight int
	window   int
}

// parseBandit reads the flags.
func parseBandit(args []string) (*banditOptions, error) {
	var b banditOptions
	fs := cli.NewFlags("bandit",
		"[flags]: evolve a program with several greedy searches, of which a bandit draws one each round",
		"task", "model", "api-base", "T", "N", "algo", "n-arms", "breadth", "budget-usd", "budget-time", "target",
		"resume", "output", "watch", "config")
	b.Register(fs)
	fs.StringVar(&b.algo, "algo", cli.DefaultPolicy,
		"the policy that draws searches: challenge, ei, ucb, thompson, ...\n"+
			"It is one of "+strings.Join(cli.PolicyKeys(), ", ")+".")
	fs.IntVar(&b.arms, "n-arms", 10, "number of searches\n"+
		"Under challenge at most one is begun for each 64 calls of the budget, and one alone below 96 calls.")
	fs.Uint64Var(&b.base, "arm-seed-base", 40, "seed from which those of the searches are derived\n"+
		"With --strict it is that of the first, and the others follow.")
	fs.Uint64Var(&b.seed, "bandit-seed", 0, "seed of the policy's draws")
	fs.IntVar(&b.cap, "T-cap-per-arm", 0,
		"most rounds that one search gets (default: no limit)\n"+
			"With --breadth adaptive a round may be one call, so it takes more of them.")
	fs.IntVar(&b.inFlight, "in-flight", 1, "searches advanced at once")
	cli.RegisterWindow(fs, &b.window)
	if err := b.Parse(fs, args); err != nil {
		return nil, err
	}
	if err := b.CheckBreadth(b.window > 0); err != nil {
		return nil, err
	}
	if err := cli.CheckPolicy(b.algo); err != nil {
		return nil, err
	}
	switch {
	case b.arms < 1:
		return nil, cli.Usagef("--n-arms is %d: need at least 1", b.arms)
	case b.arms > evolve.MaxN:
		return nil, cli.Usagef("--n-arms is %d: need at most %d", b.arms, evolve.MaxN)
	case b.cap < 0:
		return nil, cli.Usagef("--T-cap-per-arm is %d: need 0 for no limit, or more", b.cap)
	case b.inFlight < 1:
		return nil, cli.Usagef("--in-flight is %d: need at least 1", b.inFlight)
	case b.base+uint64(b.arms)-1 > math.MaxUint32:
		return nil, cli.Usagef("--arm-seed-base is %d: need at most %d for %d searches", b.base,
			math.MaxUint32-uint64(b.arms)+1, b.arms)
	}
	return &b, nil
}

// runBandit spreads the budget over several greedy searches that differ in their seeds: each round a policy draws
// the search that gets the next generation.
func runBandit(ctx context.Context, args []string) error {
	b, err := parseBandit(args)
	if err != nil {
		return err
	}
	seeds := make([]uint32, b.arms)
	for i := range seeds {
		seeds[i] = uint32(b.base) + uint32(i)
	}
	return search{
		Options: &b.Options, standIn: offline.Config{Prose: 1},
		arms: func(t task.Task, who cli.Proposing) (arms []evolve.Arm, err error) {
			for _, seed := range seeds {
				g, err := evolve.NewGreedy(evolve.GreedyConfig{
					Task: t, LLM: who.LLM, Proposers: who.Proposers, Policy: who.Policy, N: b.N, Breadth: b.Children(),
					Window: b.window, Seed: seed, Strict: b.Strict,
				})
				if err != nil {
					return nil, err
				}
				g.Shared = true
				arms = append(arms, g)
			}
			return arms, nil
		},
		decides: func([]evolve.Arm) journal.Fingerprint {
			f := journal.Fingerprint{
				"algo": b.algo, "bandit seed": fmt.Sprint(b.seed), "arms": fmt.Sprint(b.arms), "arm seeds from": fmt.Sprint(b.base),
				"offline structure": "0", // as earlier journals have it
			}
			if b.window > 0 { // which they have not
				f["window"] = fmt.Sprint(b.window)
			}
			return f
		},
		algo:      b.algo,
		ties:      true,
		allocates: &allocation{seed: b.seed, seeds: seeds, inFlight: b.inFlight},
		budget:    evolve.Budget{RoundsPerArm: b.cap},
		head:      "round  arm  chance   gen   arm's best         best  " + cli.CountsHead,
		row: func(e evolve.Event) string {
			g := e.Generation
			return fmt.Sprintf("%5d  %3d  %6.2f  %4d  %11.6f  %11.6f  %s",
				e.Pull.ID+1, e.Pull.Arm, e.Pull.Prob, g.Index, g.Best.Result.Score, e.Best.Result.Score, cli.Counts(g))
		},
		tables: func(r *evolve.Result, searches []result.Search) { printArms("arm", nil, r, searches) },
	}.run(ctx)
}

// printArms prints the share and the finds of each search of a bandit, by name or, without names, by number.
func printArms(head string, names []string, r *evolve.Result, searches []result.Search) {
	cli.Printf("\n")
	var rows [][]string
	for i, s := range searches {
		name := fmt.Sprint(i)
		if names != nil {
			name = names[i]
		}
		rows = append(rows, []string{name, fmt.Sprint(s.Seed), fmt.Sprint(len(r.Arms[i].Generations)),
			fmt.Sprintf("%.6f", s.FinalFitness), fmt.Sprintf("%.4g", s.FLOPs.WorstCase.TotalFLOPs)})
	}
	cli.Table([]string{head, "seed", "pulls", "best", "FLOPs"}, rows)
}
