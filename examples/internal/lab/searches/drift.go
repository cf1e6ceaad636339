package searches

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// drifting are searches in which a program that is as good as the best replaces it ([population.Drift]).
//
//   - greedy-1>=: greedy search of one child a step
//   - drift-plain: the same, with its two best programs scored again where scores are noisy
//   - drift: softmax, with the same
func drifting() []compare.Search {
	return []compare.Search{compare.Greedy("greedy-1>=", evolve.GreedyConfig{N: 1}), driftPlain(), drift()}
}

// driftPortfolios are drift-ei and drift-relay-softmax: a race and a relay of drift and driftPlain, which begins
// behind it.
func driftPortfolios() []compare.Search {
	members := []compare.Search{drift(), driftPlain()}
	return []compare.Search{portfolio("drift-ei", ei, members...), softmaxRelay("drift-relay-softmax", members...)}
}

// driftPlain is plain, where a program that is as good as the best replaces it.
func driftPlain() compare.Search { return keepingDrift("drift-plain", population.Config{}) }

// drift is rescore, where a program that is as good as the best replaces it.
func drift() compare.Search {
	return keepingDrift("drift", population.Config{Operators: rewriteOrExplore()})
}

// keepingDrift returns the search that keeps a [population.Drift]. Noisy scores have no ties,
// so there it is only rescored.
func keepingDrift(name string, c population.Config) compare.Search {
	return rescored(name, func(s compare.Setting) population.Config {
		c := c
		if !s.Noisy {
			c.Archive = population.Drift()
		}
		return c
	})
}
