package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// Softmax is an archive of one, and two operators under a softmax bandit at temperature 0.1 with a prior of 0.3 worth 5
// outcomes, which is LLM-Evo's way. No system is like it. It has what controlled
// comparisons have found to help, large edits at times, and leaves out what they have not: islands, gates, memories.
func Softmax(s Setting) population.Config {
	c := s.config()
	c.Operators = []population.Operator{population.Rewrite{}, population.Explore{}}
	c.Policy, c.Credit = &bandit.Softmax{Tau: 0.1, PriorMean: 0.3, PriorStrength: 5}, population.Improved
	return c
}
