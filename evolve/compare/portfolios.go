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
//   - portfolio-ei, portfolio-halving, portfolio-even: races under [EI], under [Halving], and in equal shares
//   - relay-softmax, relay-patient: members hand on the best program, and the policy is the default bandit of populations
//     or [Patient]
func Portfolios() []Search {
	members := []Search{Plain(), Rescore(), Rescored("power-law", func(Setting) population.Config { return byRank(population.Cross{}) })}
	return append(Races("portfolio", members...), Relays("relay", members...)...)
}

// Races returns portfolios of the members: name-ei, name-halving and name-even.
func Races(name string, members ...Search) []Search {
	return []Search{
		Portfolio(name+"-ei", EI, 1, members...),
		Portfolio(name+"-halving", Halving, 1, members...),
		Portfolio(name+"-even", Even, 1, members...),
	}
}

// Relays returns relays of the members: name-softmax and name-patient.
func Relays(name string, members ...Search) []Search {
	return []Search{
		Relay(name+"-softmax", func(int, int) bandit.Policy {
			return &bandit.Softmax{Tau: 0.1, PriorMean: 0.3, PriorStrength: 5}
		}, members...),
		Relay(name+"-patient", func(int, int) bandit.Policy { return &Patient{} }, members...),
	}
}

// Searches returns all of this package: [Baselines], [Populations], [Drifting], [Placebos], [Portfolios] and
// [DriftPortfolios].
func Searches() []Search {
	return slices.Concat(Baselines(), Populations(), Drifting(), Placebos(), Portfolios(), DriftPortfolios())
}
