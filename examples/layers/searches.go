package main

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// children is how many a step has.
const children = 8

// half is the part of the calls that make rules, but for a search that stands beside.
const half = 0.5

// A bench is what searches need.
type bench struct {
	runner       eval.Runner
	model        llm.LLM
	flat, hinted rulesTask
	calls        int
}

// greedy is flat search: rewrites of the best.
func (b bench) greedy(seed uint32) (evolve.Arm, error) {
	return evolve.NewGreedy(evolve.GreedyConfig{Task: b.flat, LLM: b.model, N: children, Seed: seed})
}

// told is flat search that is told the kinds of shops: it starts from a rule with a branch for each.
func (b bench) told(seed uint32) (evolve.Arm, error) {
	return evolve.NewGreedy(evolve.GreedyConfig{Task: b.hinted, LLM: b.model, N: children, Seed: seed})
}

// fronts is a flat search that keeps the best of each shop, and stage one of the layers.
func (b bench) fronts(seed uint32) (evolve.Arm, error) {
	return population.New(population.Config{Task: b.flat, LLM: b.model, N: children, Seed: seed,
		Archive: &population.Fronts{}, Select: population.FrontFrequency{}})
}

// layered is a search for rules and then for a router over five of them. share is the part of the calls that make rules.
func (b bench) layered(seed uint32, share float64) (*layers.Layers, error) {
	bases, err := b.fronts(seed)
	if err != nil {
		return nil, err
	}
	return layers.New(layers.Config{
		Bases: bases,
		Calls: b.calls,
		Share: share,
		Pool:  layers.Pool{K: 5, By: layers.ByCover, Language: "javascript"},
		Combine: func(pool []eval.Candidate) (evolve.Arm, error) {
			routers, err := newRouterTask(b.runner, pool)
			if err != nil {
				return nil, err
			}
			return population.New(population.Config{Task: routers, LLM: b.model, N: children, Seed: seed, Archive: population.Drift(),
				Operators: []population.Operator{population.Rewrite{Instruction: "Only tune the numbers."}}})
		},
		Whole: whole,
	})
}

// almostAllBases is layers whose calls are stage one's, but for the one that stage two has to have.
func (b bench) almostAllBases(seed uint32) (evolve.Arm, error) {
	return b.layered(seed, 1-1/float64(b.calls))
}
