package main

import (
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

const (
	priorSeed     = 1 << 63 // of the searches that priors are made from; runs have other seeds
	priorSearches = 40
)

// informed returns ExpectedImprovement with a prior of 40 other searches of the family, of as many pulls as
// are played. It is not for logs and banks: there it would know the searches that it is played over.
func informed() sim.Contender {
	var mu sync.Mutex
	priors := make(map[string]*bandit.Prior)
	return sim.Contender{Name: "ei-prior", New: func(s sim.Setting) bandit.Policy {
		mu.Lock()
		defer mu.Unlock()
		key := fmt.Sprint(s.Family, s.N, s.Rounds) // they are the same however many arms are played
		if priors[key] == nil {
			p, err := bandit.FitPrior(sim.Arms(s.Family, priorSeed, priorSearches, s.N, s.Rounds))
			if err != nil {
				panic(err) // a family gives whole trajectories of finite scores
			}
			priors[key] = p.Every(max(s.N, 1))
		}
		return &bandit.ExpectedImprovement{T: s.Calls(), Prior: priors[key]}
	}}
}
