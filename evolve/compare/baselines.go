package compare

import (
	"cmp"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// Baselines are the searches that any other has to beat: not one of them, but the best. None keeps more than one program,
// and none shows more than the parent.
//
//   - greedy: the best program, rewritten; ties keep the parent
//   - greedy>=: the same, where a child as good as its parent replaces it
//   - greedy-1: the same as greedy with one child to a step
//   - best-of-n: rewrites of the initial program alone
//   - ei-10 and halving-10: ten searches like greedy-1, under [EI] and [Halving]
//   - halves: greedy with the operators of larger searches, rewrite and explore, one half each
//   - softmax: the same under the default bandit
func Baselines() []Search {
	return []Search{
		Greedy("greedy", evolve.GreedyConfig{N: 8}),
		Greedy("greedy>=", evolve.GreedyConfig{N: 8, Neutral: true}),
		Greedy("greedy-1", evolve.GreedyConfig{N: 1}),
		BestOfN(),
		arms("ei-10", EI), arms("halving-10", Halving),
		Of("halves", func(Setting) population.Config {
			return population.Config{Operators: rewriteOrExplore(), Policy: population.Shares{0.5, 0.5}}
		}),
		Softmax(),
	}
}

// Greedy returns a greedy search. Task, LLM, Seed and Noisy of cfg are filled in. Where scores are noisy every program is
// scored once, unless Rescore or Fresh says otherwise.
func Greedy(name string, cfg evolve.GreedyConfig) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		cfg := cfg
		cfg.Task, cfg.LLM, cfg.Seed, cfg.Noisy, cfg.Start = s.Task, s.LLM, s.Seed, s.Noisy, s.Start
		cfg.Rescore, cfg.Fresh = cmp.Or(cfg.Rescore, -1), cmp.Or(cfg.Fresh, -1)
		g, err := evolve.NewGreedy(cfg)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
		}
		return evolve.Config{Arms: []evolve.Arm{g}}, nil
	}}
}

// arms returns ten greedy searches of one child a step under a policy.
func arms(name string, policy PolicyMaker) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		all, err := evolve.GreedyArms(evolve.GreedyConfig{Task: s.Task, LLM: s.LLM, Seed: s.Seed, N: 1, Noisy: s.Noisy, Rescore: -1, Fresh: -1}, 10)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
		}
		return evolve.Config{Arms: all, Policy: policy(s.Calls, 1)}, nil
	}}
}

// BestOfN returns the search that rewrites the initial program with all of its calls. What it reaches takes no search.
func BestOfN() Search {
	return Of("best-of-n", func(Setting) population.Config { return population.Config{Archive: &first{}} })
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

// Softmax returns the search that rewrites the best program or explores from it, by the default bandit. It is the
// default of a population with these two operators.
func Softmax() Search {
	return Of("softmax", func(Setting) population.Config { return population.Config{Operators: rewriteOrExplore()} })
}

func rewriteOrExplore() []population.Operator {
	return []population.Operator{population.Rewrite{}, population.Explore{}}
}

func rewriteExploreOrCross() []population.Operator {
	return append(rewriteOrExplore(), population.Cross{})
}
