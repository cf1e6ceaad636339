package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// EvoPromptGA keeps the 10 best programs. Two parents by roulette wheel, with chances in proportion to their scores, are
// crossed and the outcome mutated, in one prompt.
//
// On purpose otherwise:
//   - it begins with one program, and rewrites of it until there are two; there, with 10 that a person and a model wrote;
//   - scores at or below 0 have a small chance each, as a roulette wheel cannot have less than none. There, scores are
//     shares of right answers.
func EvoPromptGA(s Setting) population.Config {
	wheel := population.ByWeight(fitness)
	c := s.config()
	c.Archive, c.Select = population.Top(10), wheel
	c.Operators = []population.Operator{
		population.Cross{Select: wheel,
			Instruction: "Cross over program 1 with the other one, and then mutate the program that results."},
		population.Rewrite{Label: "paraphrase",
			Instruction: "Write a variation of the program that does the same in another way."},
	}
	c.Policy = bandit.Shares{1, 0} // the second while the first cannot make a child
	return c
}
