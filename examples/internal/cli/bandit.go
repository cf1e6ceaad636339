package cli

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// Bandit is what the flags of the bandit example say.
type Bandit struct {
	Options
	Algo       string
	Arms       int
	SeedBase   uint32
	BanditSeed uint64
	Cap        int
	InFlight   int
}

// ParseBandit reads the flags of the bandit example.
func ParseBandit(args []string) (*Bandit, error) {
	var b Bandit
	fs := flag.NewFlagSet("bandit", flag.ContinueOnError)
	b.Register(fs)
	fs.StringVar(&b.Algo, "algo", "ei", "the policy: "+strings.Join(PolicyKeys(), ", "))
	fs.IntVar(&b.Arms, "n-arms", 10, "number of searches")
	base := fs.Uint64("arm-seed-base", 40, "seed of the first search; the others follow")
	fs.Uint64Var(&b.BanditSeed, "bandit-seed", 0, "seed of the policy's draws")
	fs.IntVar(&b.Cap, "T-cap-per-arm", 0, "most rounds that one search gets; with --breadth adaptive or doubling a round may be one call, so it takes more of them (default: no limit)")
	fs.IntVar(&b.InFlight, "in-flight", 1, "searches advanced at once")
	if err := b.Parse(fs, args); err != nil {
		return nil, err
	}
	b.SeedBase = uint32(*base)
	if err := b.checkBreadth(false); err != nil {
		return nil, err
	}
	switch {
	case !slices.Contains(PolicyKeys(), b.Algo):
		return nil, unknownPolicy(b.Algo)
	case b.Arms < 1:
		return nil, Usagef("--n-arms is %d: need at least 1", b.Arms)
	case b.Arms > evolve.MaxN:
		return nil, Usagef("--n-arms is %d: need at most %d", b.Arms, evolve.MaxN)
	case b.Cap < 0:
		return nil, Usagef("--T-cap-per-arm is %d: need 0 for no limit, or more", b.Cap)
	case b.InFlight < 1:
		return nil, Usagef("--in-flight is %d: need at least 1", b.InFlight)
	case *base+uint64(b.Arms)-1 > math.MaxUint32:
		return nil, Usagef("--arm-seed-base is %d: need at most %d for %d searches", *base, math.MaxUint32-uint64(b.Arms)+1, b.Arms)
	}
	return &b, nil
}

// ArmSeeds returns the seeds of the searches.
func (b *Bandit) ArmSeeds() []uint32 {
	seeds := make([]uint32, b.Arms)
	for i := range seeds {
		seeds[i] = b.SeedBase + uint32(i)
	}
	return seeds
}

// Progress returns a Progress with a line for each round.
func (b *Bandit) Progress(ctx context.Context) *Progress {
	head := "round  arm  chance   gen   arm's best         best  " + CountsHead
	return NewProgress(ctx, b.T*b.N, head, func(e evolve.Event) string {
		g := e.Generation
		return fmt.Sprintf("%5d  %3d  %6.2f  %4d  %11.6f  %11.6f  %s",
			e.Pull.ID+1, e.Pull.Arm, e.Pull.Prob, g.Index, g.Best.Result.Score, e.Best.Result.Score, Counts(g))
	}, b.Workers)
}

// Summary prints what each search got and found, how the run ended, and what it cost.
func (b *Bandit) Summary(model llm.LLM, r *evolve.Result, file report.Bandit) {
	Printf("\n")
	var rows [][]string
	for i, seed := range file.ArmSeeds {
		rows = append(rows, []string{fmt.Sprint(i), fmt.Sprint(seed), fmt.Sprint(file.ArmPulls[i]),
			fmt.Sprintf("%.6f", file.ArmFitness[i]), fmt.Sprintf("%.4g", file.ArmResults[i].FLOPs.WorstCase.TotalFLOPs)})
	}
	Table([]string{"arm", "seed", "pulls", "best", "FLOPs"}, rows)
	b.summary(model, r, file.FLOPs, file.Ledgers)
}
