// Package searches has the searches that the laboratory plays against each other, by name and in groups.
package searches

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
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
		name := p.Name
		if name == "best-of-n" { // which a baseline is called
			name = "best-of-5"
		}
		list = append(list, peer(name, p))
	}
	return list
}

// peer returns another system's search.
func peer(name string, p peers.Peer) compare.Search {
	if p.Config != nil {
		return compare.Population(name, func(s compare.Setting) population.Config {
			return p.Config(peers.Setting{Task: s.Task, LLM: s.LLM, Strict: true})
		})
	}
	return compare.Search{Name: name, Make: func(s compare.Setting) (evolve.Config, error) {
		at := peers.Setting{Task: s.Task, LLM: s.LLM, Seed: s.Seed, Start: s.Start, Calls: s.Calls, N: 1, Strict: true}
		if s.Noisy {
			at.Noise = &evolve.Noise{Rescore: -1, Fresh: -1}
		}
		arm, err := p.Arm(at, nil)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("searches: %s: %w", name, err)
		}
		return evolve.Config{Arms: []evolve.Arm{arm}}, nil
	}}
}
