package priced

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/llm"
)

// A Config says what to play.
type Config struct {
	Families []compare.Family
	Calls    int    // the budget in rewrites of the initial program
	Seed     uint64 // of the first run
	Runs     int    // of each way in each family and condition
	OnRun    func() // called after each run
}

// The arms.
const (
	rewriter = "rewrite"
	agents   = "agent"
)

// ways are how the budget is spent: on one arm, or on both under a policy. A policy that is blind is not told of costs.
var ways = []string{rewriter, agents, "ei", "challenge", "ei, blind", "challenge, blind"}

// Plays returns how many runs there are of one seed in one family.
func Plays() int { return len(ways) * len(Conditions()) }

// A cell is the gains in one family and condition: by way, and by run.
type cell struct {
	family    string
	condition Condition
	gains     map[string][]float64
}

// Study plays all ways, on paired seeds. Both kinds of arms take turns at being the first.
func study(ctx context.Context, cfg Config) ([]cell, error) {
	var cells []cell
	for _, condition := range Conditions() {
		for _, f := range cfg.Families {
			c := cell{f.Name, condition, make(map[string][]float64)}
			for run := range cfg.Runs {
				for _, way := range ways {
					gain, err := play(ctx, cfg, f, condition, way, cfg.Seed+uint64(run))
					if err != nil {
						return nil, fmt.Errorf("priced: %s, %v, %s, seed %d: %w", f, condition, way, cfg.Seed+uint64(run), err)
					}
					c.gains[way] = append(c.gains[way], gain)
					cfg.OnRun()
				}
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// play makes one run, and returns by how much the true score of its best program is above that of the initial one.
func play(ctx context.Context, cfg Config, f compare.Family, c Condition, way string, seed uint64) (float64, error) {
	p, err := f.Make(seed)
	if err != nil {
		return 0, err
	}
	rewrites, err := evolve.NewGreedy(evolve.GreedyConfig{Task: p.Task, LLM: p.LLM, N: 1, Seed: uint32(2 * seed)})
	if err != nil {
		return 0, err
	}
	sessions := newAgent(p, c, uint32(2*seed)+1)
	model := landscape.Model{}.Spec()
	model.Price = &price
	run := evolve.Config{Seed: seed, Policy: policy(way, cfg.Calls), Budget: evolve.Budget{
		Money: float64(cfg.Calls) * price.Cost(*landscape.Rewrite(p.Task)), Models: []llm.Model{model}, Stalls: -1}}
	switch {
	case way == rewriter:
		run.Arms = []evolve.Arm{rewrites}
	case way == agents:
		run.Arms = []evolve.Arm{sessions}
	case seed%2 == 0:
		run.Arms = []evolve.Arm{rewrites, sessions}
	default:
		run.Arms = []evolve.Arm{sessions, rewrites}
	}
	result, err := evolve.Run(ctx, run)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, err
	}
	return p.True(result.Best.Program) - p.True(p.Task.Initial()), nil
}

// policy returns the policy of a way. T is how many rewrites the budget buys.
func policy(way string, calls int) bandit.Policy {
	switch way {
	case "ei":
		return &bandit.ExpectedImprovement{T: calls}
	case "challenge":
		return &bandit.Challenge{T: calls}
	case "ei, blind":
		return blind{&bandit.ExpectedImprovement{T: calls}}
	case "challenge, blind":
		return blind{&bandit.Challenge{T: calls}}
	}
	return bandit.Random{}
}

// blind is a policy that is not told of costs.
type blind struct{ bandit.Policy }

func (b blind) Probs(p []float64, r bandit.Round) {
	r.Costs = nil
	b.Policy.Probs(p, r)
}

// String names the policy.
func (b blind) String() string { return fmt.Sprintf("blind(%v)", b.Policy) }
