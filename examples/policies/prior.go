package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

const (
	priorSeed     = 1 << 63 // of the searches that priors are made from; runs have other seeds
	priorSearches = 40
)

// informed returns ExpectedImprovement with a prior of 40 other searches of the family, of as many pulls as
// are played, and its placebos: with a prior of searches of another family, and with one of its own family's searches
// whose gains came in another order. They are not for logs and banks: there they would know the searches that they
// are played over.
func informed() []race.Contender {
	return []race.Contender{
		withPrior("ei-prior", func(s sim.Setting) [][]float64 { return searchesOf(s.Family, s) }),
		withPrior("ei-prior-other", func(s sim.Setting) [][]float64 { return searchesOf(farFrom(s.Family), s) }),
		withPrior("ei-prior-shuffled", func(s sim.Setting) [][]float64 { return shuffled(searchesOf(s.Family, s)) }),
	}
}

// withPrior returns ExpectedImprovement with the prior of the searches that from returns.
func withPrior(name string, from func(sim.Setting) [][]float64) race.Contender {
	var mu sync.Mutex
	priors := make(map[string]*bandit.Prior)
	return contender(name, func(s sim.Setting) bandit.Policy {
		mu.Lock()
		defer mu.Unlock()
		key := fmt.Sprint(s.Family, s.N, s.Rounds) // they are the same however many arms are played
		if priors[key] == nil {
			p, err := bandit.FitPrior(from(s))
			if err != nil {
				panic(err) // a family gives whole trajectories of finite scores
			}
			priors[key] = p.Every(max(s.N, 1))
		}
		return &bandit.ExpectedImprovement{T: s.Calls(), Prior: priors[key]}
	})
}

func searchesOf(f sim.Family, s sim.Setting) [][]float64 {
	return sim.Arms(f, priorSeed, priorSearches, s.N, s.Rounds)
}

// farFrom returns the family half-way around the list of all families.
func farFrom(f sim.Family) sim.Family {
	all := slices.Concat(race.Families(), race.Unlike())
	i := slices.IndexFunc(all, func(other sim.Family) bool { return other.String() == f.String() })
	return all[(i+len(all)/2)%len(all)]
}

// shuffled returns searches with the gains of each in another order.
func shuffled(searches [][]float64) [][]float64 {
	r := rand.New(rand.NewPCG(1, 0))
	for _, best := range searches {
		gains := make([]float64, len(best)-1)
		for i := range gains {
			gains[i] = best[i+1] - best[i]
		}
		r.Shuffle(len(gains), func(i, j int) { gains[i], gains[j] = gains[j], gains[i] })
		for i, gain := range gains {
			best[i+1] = best[i] + gain
		}
	}
	return searches
}
