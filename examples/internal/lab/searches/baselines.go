package searches

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// baselines are the searches that any other has to beat: not one of them, but the best. None keeps more than one
// program, and none shows more than the parent.
//
//   - greedy: the best program, rewritten; ties keep the parent
//   - greedy>=: the same, where a child as good as its parent replaces it
//   - greedy-1: the same as greedy with one child to a step
//   - best-of-n: rewrites of the initial program alone
//   - ei-10 and halving-10: ten searches like greedy-1, under [bandit.ExpectedImprovement] and
//     [bandit.SuccessiveHalving]
//   - halves: greedy with the operators of larger searches, rewrite and explore, one half each
//   - softmax: the same under the default bandit
func baselines() []compare.Search {
	return []compare.Search{
		compare.Greedy("greedy", evolve.GreedyConfig{N: 8, Strict: true}),
		compare.Greedy("greedy>=", evolve.GreedyConfig{N: 8}),
		compare.Greedy("greedy-1", evolve.GreedyConfig{N: 1, Strict: true}),
		bestOfN(),
		arms("ei-10", ei), arms("halving-10", halving),
		compare.Population("halves", func(compare.Setting) population.Config {
			return population.Config{Archive: population.Top(1), Operators: rewriteOrExplore(), Policy: bandit.Shares{0.5, 0.5}}
		}),
		softmax(),
	}
}

// arms returns ten greedy searches of one child a step under a policy.
func arms(name string, policy policyMaker) compare.Search {
	return compare.Search{Name: name, Make: func(s compare.Setting) (evolve.Config, error) {
		all, err := evolve.GreedyArms(evolve.GreedyConfig{Task: s.Task, LLM: s.LLM, Seed: s.Seed, N: 1, Strict: true}, 10)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("searches: %s: %w", name, err)
		}
		if s.Noisy { // each program is scored once
			for _, arm := range all {
				arm.(*evolve.Greedy).Noise = &evolve.Noise{Rescore: -1, Fresh: -1}
			}
		}
		return evolve.Config{Arms: all, Policy: policy(s.Calls)}, nil
	}}
}

// bestOfN returns the search that rewrites the initial program with all of its calls. What it reaches takes no search.
func bestOfN() compare.Search {
	return compare.Population("best-of-n",
		func(compare.Setting) population.Config { return population.Config{Archive: &first{}} })
}

// first is an archive of the initial program.
type first struct{ members []*population.Member }

// Add keeps the first member that it is offered.
func (f *first) Add(m *population.Member) bool {
	if len(f.members) > 0 {
		return false
	}
	f.members = []*population.Member{m}
	return true
}

// Members returns it.
func (f *first) Members() []*population.Member { return f.members }

// String names the archive.
func (*first) String() string { return "first" }

// softmax returns the search that rewrites the best program or explores from it, by the default bandit. It is the
// default of a population with these two operators.
func softmax() compare.Search {
	return compare.Population("softmax", func(compare.Setting) population.Config {
		return population.Config{Archive: population.Top(1), Operators: rewriteOrExplore()}
	})
}

func rewriteOrExplore() []population.Operator {
	return []population.Operator{population.Rewrite{}, population.Explore{}}
}

func rewriteExploreOrCross() []population.Operator {
	return append(rewriteOrExplore(), population.Cross{})
}
