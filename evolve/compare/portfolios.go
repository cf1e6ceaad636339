package compare

import (
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// Plain is greedy search of one child a step, with its two best programs scored again where scores are noisy.
func Plain() Search {
	return Rescored("plain", func(Setting) population.Config { return population.Config{} })
}

// Rescore is [Softmax], with its two best programs scored again where scores are noisy.
func Rescore() Search {
	return Rescored("rescore", func(Setting) population.Config { return population.Config{Operators: rewriteOrExplore()} })
}

// Portfolios are runs with unlike searches as their arms: [Plain], [Rescore], and parents by rank from the best 40.
//
//   - portfolio-ei: a race under [EI]
//   - relay-softmax: members hand on the best program, and the policy is the default bandit of populations
func Portfolios() []Search {
	members := []Search{Plain(), Rescore(), Rescored("power-law", func(Setting) population.Config { return byRank(population.Cross{}) })}
	return []Search{Portfolio("portfolio-ei", EI, 1, members...), softmaxRelay("relay-softmax", members...)}
}

// softmaxRelay is a relay under the default bandit of populations.
func softmaxRelay(name string, members ...Search) Search {
	return Relay(name, func(int, int) bandit.Policy {
		return &bandit.Softmax{Tau: 0.1, PriorMean: 0.3, PriorStrength: 5}
	}, members...)
}

// Searches returns all of this package: [Baselines], [Populations], [Drifting], [Placebos], [Portfolios] and
// [DriftPortfolios].
func Searches() []Search {
	return slices.Concat(Baselines(), Populations(), Drifting(), Placebos(), Portfolios(), DriftPortfolios())
}
