package peers

import "github.com/evoalloc/evoalloc/evolve/population"

// distinct returns the members of several lists in ascending order of rank, each once, as models weigh what comes last most.
// The lists are given in that order, and each is best first.
func distinct(lists ...[]*population.Member) (shown []*population.Member) {
	seen := map[int]bool{}
	for i := len(lists) - 1; i >= 0; i-- {
		for _, m := range lists[i] {
			if !seen[m.ID] {
				seen[m.ID] = true
				shown = append([]*population.Member{m}, shown...)
			}
		}
	}
	return shown
}
