package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/lab/peers"
)

// A search of your own joins by one line in groups.

// groupNames are in the order in which searches are played.
var groupNames = []string{"baselines", "populations", "peers", "drifting", "placebos", "portfolios", "drift-portfolios"}

// groups returns all searches, and those of each group. The group all has all of them.
func groups() (all []compare.Search, of map[string][]compare.Search) {
	of = map[string][]compare.Search{
		"baselines": compare.Baselines(), "populations": compare.Populations(), "peers": others(),
		"drifting": compare.Drifting(), "placebos": compare.Placebos(),
		"portfolios": compare.Portfolios(), "drift-portfolios": compare.DriftPortfolios(),
	}
	for _, name := range groupNames {
		all = append(all, of[name]...)
	}
	of["all"] = all
	return all, of
}

// others returns the other systems' searches. Those that compare has itself are left out.
func others() []compare.Search {
	var list []compare.Search
	for _, p := range peers.Peers() {
		if p.Name == "greedy" || p.Name == "softmax" {
			continue
		}
		list = append(list, compare.Of(p.Name, func(s compare.Setting) population.Config {
			return p.Config(peers.Setting{Task: s.Task, LLM: s.LLM})
		}))
	}
	return list
}

// described says which searches there are, by group.
func described() string {
	_, of := groups()
	var b strings.Builder
	for _, name := range groupNames {
		fmt.Fprintf(&b, "%s: %s; ", name, strings.Join(names(of[name]), ", "))
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// single reports whether a search is one that a portfolio has to match: not a portfolio, and with all of its parts.
func single(name string) bool {
	_, of := groups()
	for _, s := range slices.Concat(of["portfolios"], of["drift-portfolios"], of["placebos"]) {
		if s.Name == name {
			return false
		}
	}
	return true
}
