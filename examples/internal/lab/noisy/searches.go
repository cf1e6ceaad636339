// Package noisy has the study of searches where scores are noisy: families with a given noise, ways to deal with it,
// and what they gain.
package noisy

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/task"
)

// Families returns three families with normal noise on every evaluation, of which the standard deviation is level
// typical gains: those of [landscape.WithNoise]. "words-0.5" is the name of the first at half a gain.
func Families(level float64) []compare.Family {
	var all []compare.Family
	for _, f := range landscape.WithNoise(level) {
		all = append(all, compare.Family{Name: f.Name, Make: func(seed uint64) (compare.Problem, error) {
			p, err := f.Make(seed)
			return compare.Problem(p), err
		}})
	}
	return all
}

// Searches are ways to deal with noise, each of one child a step.
//
//   - once: greedy search that scores every program once
//   - default: greedy search of means, by a Noise without any setting
//   - every-4: once, with the mean of four evaluations for every program
func Searches() []compare.Search {
	return []compare.Search{
		compare.Greedy("once", evolve.GreedyConfig{N: 1, Strict: true}),
		{Name: "default", Make: func(s compare.Setting) (evolve.Config, error) {
			cfg := population.Config{Task: s.Task, LLM: s.LLM, Seed: s.Seed, N: 1}
			if s.Noisy {
				cfg.Noise = &evolve.Noise{}
			}
			p, err := population.New(cfg)
			return evolve.Config{Arms: []evolve.Arm{p}}, err
		}},
		{Name: "every-4", Make: func(s compare.Setting) (evolve.Config, error) {
			s.Task = task.WithEvaluator(s.Task, eval.Repeat(s.Task, 4))
			return compare.Greedy("every-4", evolve.GreedyConfig{N: 1, Strict: true}).Make(s)
		}},
	}
}
