// Package advise looks for the best split of a budget between depth and breadth while the budget is spent. A [Policy]
// has searches of several breadths make a pilot, for a share of the calls. It fits the surface of package analysis to
// what they came to, and gives the rest of the calls to the one that the surface expects the most of.
//
// Over simulated tasks this does not pay: several searches of one breadth under bandit.ExpectedImprovement come
// further with the same calls. docs/advise.md has the figures, and which T and N to take without a pilot.
package advise

import (
	"cmp"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
)

// Arms returns a greedy search for each breadth, with seeds cfg.Seed, cfg.Seed + 1, ... It returns an error if there
// are no breadths, if cfg has a Breadth of its own, or if a field of cfg is wrong.
func Arms(cfg evolve.GreedyConfig, breadths []int) ([]evolve.Arm, error) {
	if len(breadths) == 0 {
		return nil, fmt.Errorf("advise: Arms of no breadths: need at least 1")
	}
	if cfg.Breadth != nil {
		return nil, fmt.Errorf("advise: GreedyConfig.Breadth is %v: need nil, as each search has one breadth", cfg.Breadth)
	}
	var arms []evolve.Arm
	base := cfg.Seed
	for i, n := range breadths {
		if n < 1 {
			return nil, fmt.Errorf("advise: breadth %d is %d: need at least 1", i, n)
		}
		cfg.N, cfg.Seed = n, base+uint32(i)
		g, err := evolve.NewGreedy(cfg)
		if err != nil {
			return nil, fmt.Errorf("advise: %w", err)
		}
		arms = append(arms, g)
	}
	return arms, nil
}

// Breadths returns 1, 4, 16 and 64, or as many of them as a pilot of a share of the calls can give four generations
// each: an arm of fewer shows little. A share of 0 is DefaultShare.
func Breadths(calls int, share float64) []int {
	breadths := []int{1}
	for n := 4; n <= 64 && pilotOf(calls, share, len(breadths)+1) >= 4*n; n *= 4 {
		breadths = append(breadths, n)
	}
	return breadths
}

// pilotOf returns the calls that each of k arms has in the pilot.
func pilotOf(calls int, share float64, k int) int {
	return int(cmp.Or(share, DefaultShare)*float64(calls)) / k
}
