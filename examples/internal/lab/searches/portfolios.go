package searches

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// plain is greedy search of one child a step, with its two best programs scored again where scores are noisy.
func plain() compare.Search {
	return rescored("plain", func(compare.Setting) population.Config { return population.Config{} })
}

// rescore is softmax, with its two best programs scored again where scores are noisy.
func rescore() compare.Search {
	return rescored("rescore",
		func(compare.Setting) population.Config { return population.Config{Operators: rewriteOrExplore()} })
}

// portfolios are runs with unlike searches as their arms: plain, rescore, and parents by rank from the best 40.
//
//   - portfolio-ei: a race under ei
//   - relay-softmax: members hand on the best program, and the policy is the default bandit of populations
func portfolios() []compare.Search {
	members := []compare.Search{plain(), rescore(),
		rescored("power-law", func(compare.Setting) population.Config { return byRank(population.Cross{}) })}
	return []compare.Search{portfolio("portfolio-ei", ei, members...), softmaxRelay("relay-softmax", members...)}
}

// softmaxRelay is a relay under the default bandit of populations.
func softmaxRelay(name string, members ...compare.Search) compare.Search {
	return relay(name, func(int) bandit.Policy {
		return &bandit.Softmax{Tau: 0.1, PriorMean: 0.3, PriorStrength: 5}
	}, members...)
}

// A policyMaker returns a fresh policy for a run of so many calls, of which each pull makes one.
type policyMaker func(calls int) bandit.Policy

// ei is [bandit.ExpectedImprovement] with the number of calls as its horizon.
func ei(calls int) bandit.Policy { return &bandit.ExpectedImprovement{T: calls} }

// halving is [bandit.SuccessiveHalving] with the number of calls as its horizon.
func halving(calls int) bandit.Policy { return &bandit.SuccessiveHalving{T: calls} }

// portfolio returns the search whose arms are those of the members, each with a seed of its own, under one policy. A
// member with several arms is one arm, an [evolve.Allocator] of them.
func portfolio(name string, policy policyMaker, members ...compare.Search) compare.Search {
	return compare.Search{Name: name, Make: func(s compare.Setting) (evolve.Config, error) {
		cfg := evolve.Config{Policy: policy(s.Calls)}
		for i, m := range members {
			arm, err := armOf(m, fork(s, i))
			if err != nil {
				return evolve.Config{}, fmt.Errorf("searches: %s: %w", name, err)
			}
			cfg.Arms = append(cfg.Arms, arm)
		}
		return cfg, nil
	}}
}

// fork returns the setting of one of several searches in a run: with a seed of its own.
func fork(s compare.Setting, index int) compare.Setting {
	_, seed := stream.Seed(uint64(s.Seed), "compare fork", uint64(index))
	s.Seed = uint32(seed)
	return s
}

// armOf returns a search as one arm.
func armOf(s compare.Search, at compare.Setting) (evolve.Arm, error) {
	cfg, err := s.Make(at)
	if err != nil {
		return nil, err
	}
	if len(cfg.Arms) == 1 {
		return cfg.Arms[0], nil
	}
	cfg.Seed = uint64(at.Seed)
	return evolve.NewAllocator(cfg)
}
