package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// LLMEvo has four operators under a softmax over the mean reward and a prior: mutate, cross, explore in a direction
// written by hand, and insights, a rewrite with notes. The reward is the gain in standard deviations of the initial program's
// score.
//
// On purpose otherwise:
//   - without a Spread the reward is whether the child is better than its parent: in a task without noise there is no such
//     deviation;
//   - insights are notes that are kept while they help; there, a summary that is written anew;
//   - directions are those of [population.Explore], which fit any task; there, they are of its one task.
func LLMEvo(s Setting) population.Config {
	c := s.config()
	c.Archive, c.Select = population.Top(20), population.PowerLaw(1)
	c.Operators = []population.Operator{
		population.Rewrite{Label: "mutate", Show: population.Nothing},
		population.Cross{Select: population.PowerLaw(1)},
		population.Explore{},
		population.Rewrite{Label: "insights"},
	}
	c.Policy = &bandit.Softmax{Tau: 0.1, PriorMean: 0.2, PriorStrength: 5}
	if s.Spread > 0 {
		c.Credit = population.Lift(s.Spread)
	}
	c.Memory = []population.Memory{&population.Scratchpad{Every: 16, Most: 5}}
	return c
}
