package compare

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/flops"
)

// PerFLOP returns the search with its rewards divided by what the steps cost, so that of two arms which gain as often the
// cheaper one is drawn more:
//
//	reward · min(1, rewrite/cost)
//
// with cost the step's FLOPs for each of its answered calls, and rewrite those of one rewrite of the initial program. It
// is for rewards of at least 0, such as [Raised].
func PerFLOP(name string, of Search) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		cfg, err := of.Make(s)
		if err != nil || cfg.Reward == nil {
			return cfg, err
		}
		gain, model := cfg.Reward, modelOf(s.LLM)
		rewrite := rewriteCost(s.Task, model)
		cfg.Reward = func(g evolve.Generation) float64 {
			calls := 0
			for _, c := range g.Children {
				if c.Answered() {
					calls++
				}
			}
			cost := flops.Sum(g.Attempts, model.ActiveParams, flops.WorstCase).TotalFLOPs / float64(max(calls, 1))
			return gain(g) * min(1, rewrite/max(cost, 1))
		}
		return cfg, nil
	}}
}
