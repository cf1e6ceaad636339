// Package presets has other systems' searches as configurations of a population: the same parts, put together as these
// systems do.
//
//	search, err := population.New(presets.Shinka(population.Config{Task: t, LLM: model, N: 16}))
//
// Each takes a Config with what a search is told, such as the task, the models, N and the seed, and returns it with the
// parts filled in. Its parts are new each time, because searches must not share them. Policy and Credit are the system's
// own, or with several Config.Proposers the Config's: one bandit over these and the operators.
//
// What differs from the originals on purpose, and why, stands in docs/comingover.md, with their commits. Where
// testdata/parity has a record that a system's own code made, tests compare what is kept and drawn with it.
package presets

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// Greedy is evolve.Greedy, child for child. It is the baseline.
func Greedy(c population.Config) population.Config { return c }

// drawn returns c with a policy over the operators and its credit, unless there are several proposers.
func drawn(c population.Config, by bandit.Policy, credit func(population.Birth) (float64, bool)) population.Config {
	if len(c.Proposers) <= 1 {
		c.Policy, c.Credit = by, credit
	}
	return c
}
