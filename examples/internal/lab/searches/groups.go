// Package searches has the searches that the laboratory plays against each other, by name and in groups.
package searches

import (
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/lab/peers"
)

// A Group is searches of one kind.
type Group struct {
	Name     string
	Searches []compare.Search
}

// Groups returns all searches, in the order in which studies show them. No two have one name.
func Groups() []Group {
	return []Group{
		{"baselines", baselines()}, {"populations", populations()}, {"peers", others()}, {"drifting", drifting()},
		{"placebos", placebos()}, {"portfolios", portfolios()}, {"drift-portfolios", driftPortfolios()},
		{"kinds", kinds()},
	}
}

// others returns the other systems' searches. Those that are in other groups are left out.
func others() []compare.Search {
	var list []compare.Search
	for _, p := range peers.Peers() {
		if p.Name == "greedy" || p.Name == "softmax" {
			continue
		}
		list = append(list, compare.Population(p.Name, func(s compare.Setting) population.Config {
			return p.Config(peers.Setting{Task: s.Task, LLM: s.LLM, Strict: true})
		}))
	}
	return list
}
