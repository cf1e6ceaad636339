// Package advise finds the split of a budget between depth and breadth while the budget is spent. A [Policy] plays a
// search at each of several breadths for a share of the calls, the pilot, fits the surface of package analysis to what
// they came to, and gives the rest to the search whose breadth the surface expects the most of.
//
// docs/advise.md has what that is worth, against fixed splits.
package advise

import (
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

// Breadths returns 1, 4, 16, ...: those that a pilot of the given share of the calls can try with four generations
// each, at most 64. Fewer are tried where there are few calls, as an arm that makes one generation shows nothing.
func Breadths(calls int, share float64) []int {
	breadths := []int{1}
	for n := 4; n <= 64; n *= 4 {
		if pilotOf(calls, share, len(breadths)+1) < 4*n {
			break
		}
		breadths = append(breadths, n)
	}
	return breadths
}

// pilotOf returns the calls that each of k arms has in the pilot.
func pilotOf(calls int, share float64, k int) int { return int(share*float64(calls)) / k }
