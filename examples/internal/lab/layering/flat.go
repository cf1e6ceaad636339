package layering

import (
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/lab/standin"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// Children is how many a step has.
const Children = 8

// Half is the part of the calls that make rules, but for a search that stands beside.
const Half = 0.5

// A Bench is what searches need.
type Bench struct {
	Runner eval.Runner
	Model  llm.LLM
	Rules  RulesTask
	Calls  int
	// Layered makes the search in layers. share is the part of the calls that make rules.
	Layered func(seed uint32, share float64) (*layers.Layers, error)
	told    RulesTask // Rules for a search that is told the kinds of shops
}

// NewBench returns a bench without a search in layers, for runs of so many calls.
func NewBench(calls int) (b Bench, err error) {
	b.Calls = calls
	// What a rule computes is limited, and not how long it waits for a processor: that would change what is found.
	if b.Runner, err = js.New(js.Config{CPU: 5 * time.Second, Timeout: time.Minute}); err != nil {
		return b, err
	}
	if b.Model, err = offline.New(standin.Abilities{Structure: 0.7, Heed: 1}.Config()); err != nil {
		return b, err
	}
	if b.Rules, err = newRules(b.Runner, plain); err != nil {
		return b, err
	}
	b.told, err = newRules(b.Runner, told)
	return b, err
}

// greedy is flat search: rewrites of the best.
func (b Bench) greedy(seed uint32) (evolve.Arm, error) {
	return evolve.NewGreedy(evolve.GreedyConfig{Task: b.Rules, LLM: b.Model, N: Children, Seed: seed, Strict: true})
}

// branched is flat search that is told the kinds of shops: it starts from a rule with a branch for each.
func (b Bench) branched(seed uint32) (evolve.Arm, error) {
	return evolve.NewGreedy(evolve.GreedyConfig{Task: b.told, LLM: b.Model, N: Children, Seed: seed, Strict: true})
}

// Fronts is a flat search that keeps the best of each shop, and stage one of the layers.
func (b Bench) Fronts(seed uint32) (evolve.Arm, error) {
	return population.New(population.Config{Task: b.Rules, LLM: b.Model, N: Children, Seed: seed,
		Archive: population.Fronts(), Select: population.FrontFrequency()})
}

// almostAllBases is layers whose calls are stage one's, but for the one that stage two has to have.
func (b Bench) almostAllBases(seed uint32) (evolve.Arm, error) {
	return b.Layered(seed, 1-1/float64(b.Calls))
}
