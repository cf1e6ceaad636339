// Package peers names searches for the flags --like and --methods: this library's default, the baseline, and the presets
// of other systems.
package peers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/presets"
)

// A Peer is a search by its name.
type Peer struct {
	Name    string
	Summary string // what it is, in one line
	Config  func(population.Config) population.Config
}

// Peers returns all.
func Peers() []Peer {
	return []Peer{
		{"softmax", "the best program, rewritten or explored from as a softmax bandit finds better", Softmax},
		{"greedy", "the best program, rewritten", presets.Greedy},
		{"openevolve", "MAP-Elites on five islands, top and diverse programs shown (OpenEvolve)", presets.OpenEvolve},
		{"shinka", "weighted parents, three kinds of patch, a novelty gate (ShinkaEvolve)", presets.Shinka},
		{"gepa", "the best program of each case, rewritten by reflection, and merged (GEPA)", presets.GEPA},
		{"adaevolve", "islands by UCB, exploration that fades while scores rise (AdaEvolve)", presets.AdaEvolve},
		{"llm-evo", "mutate, cross, explore and insights under a softmax bandit (LLM-Evo)", presets.LLMEvo},
		{"evoprompt-ga", "parents by roulette wheel, crossed and mutated in one prompt (EvoPrompt)", presets.EvoPromptGA},
		{"evoprompt-de", "differential evolution: what two differ in, on the best, crossed with a third (EvoPrompt)",
			presets.EvoPromptDE},
		{"dgm", "an archive of all, parents by score and by few children, and repairs (Darwin Gödel Machine)", presets.DGM},
	}
}

// Names returns the names of [Peers].
func Names() (names []string) {
	for _, p := range Peers() {
		names = append(names, p.Name)
	}
	return names
}

// Named returns the peer of that name. The error for an unknown one lists all names.
func Named(name string) (Peer, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return Peer{}, fmt.Errorf("peers: unknown search %q: it is one of %s", name, strings.Join(Names(), ", "))
	}
	return Peers()[i], nil
}

// Softmax is an archive of one, and two operators under a softmax bandit at temperature 0.1 with a prior of 0.3 worth 5
// outcomes, which is LLM-Evo's way. No system is like it. It has what controlled comparisons have found to help, large
// edits at times, and leaves out what they have not: islands, gates, memories.
func Softmax(c population.Config) population.Config {
	c.Operators = []population.Operator{population.Rewrite{}, population.Explore{}}
	if len(c.Proposers) <= 1 { // else one bandit draws the pairs of both
		c.Policy, c.Credit = &bandit.Softmax{Tau: 0.1, PriorMean: 0.3, PriorStrength: 5}, population.Improved
	}
	return c
}
