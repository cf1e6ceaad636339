package compare

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// Drifting are searches in which a program that is as good as the best replaces it ([population.Drift]).
//
//   - greedy-1>=: greedy search of one child a step
//   - drift-plain: the same, with its two best programs scored again where scores are noisy
//   - drift: softmax, with the same
func Drifting() []Search {
	return []Search{Greedy("greedy-1>=", evolve.GreedyConfig{N: 1, Neutral: true}), DriftPlain(), Drift()}
}

// DriftPortfolios are drift-ei and drift-relay-softmax: a race and a relay of [Drift] and [DriftPlain], which begins
// behind it.
func DriftPortfolios() []Search {
	members := []Search{Drift(), DriftPlain()}
	return []Search{Portfolio("drift-ei", EI, 1, members...), softmaxRelay("drift-relay-softmax", members...)}
}

// DriftPlain is [Plain], where a program that is as good as the best replaces it.
func DriftPlain() Search { return drifting("drift-plain", population.Config{}) }

// Drift is [Rescore], where a program that is as good as the best replaces it.
func Drift() Search { return drifting("drift", population.Config{Operators: rewriteOrExplore()}) }

// drifting returns the search that keeps a [population.Drift]. Noisy scores have no ties, so there it is only [Rescored].
func drifting(name string, c population.Config) Search {
	return Rescored(name, func(s Setting) population.Config {
		c := c
		if !s.Noisy {
			c.Archive = population.Drift()
		}
		return c
	})
}
