package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// DGM keeps every valid program. Parents are weighted by score and by few children, as they were first in this
// system, and asked for a change that follows from what went wrong. Invalid programs are mended.
//
// On purpose otherwise:
//   - the newest 100 programs and the best are kept: over all, the weight of few children comes to select uniformly;
//   - the score's weight is σ(10·(F − median)/MAD), as ShinkaEvolve has it, so that any scale of scores will do; there,
//     σ(10·(F − 0.5)) of shares of solved problems;
//   - a tenth of the children are repairs of what is invalid; there, the agent mends itself within its own call.
//
// There, the program is the agent that changes it, and evaluation is staged from 10 problems to 200. Both are the task's.
func DGM(s Setting) population.Config {
	c := s.config()
	c.Archive, c.Select = population.All(100), population.Weighted(10)
	c.Operators = []population.Operator{
		population.Rewrite{Label: "improve",
			Instruction: "Find what keeps the program from a higher score, propose one improvement, and implement it."},
		population.Repair{},
	}
	c.Policy = bandit.Shares{0.9, 0.1}
	return c
}
