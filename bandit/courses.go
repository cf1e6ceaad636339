package bandit

import (
	"cmp"
	"math"
	"slices"
)

// courses keeps the course of each arm: its best reward after 1, 2, ... outcomes. Where the reward is a
// search's best score so far, the two are the same.
type courses struct {
	best  [][]float64
	total int // outcomes of all arms
}

// add records one outcome of arm, unless the reward is not finite.
func (c *courses) add(arm int, reward float64) {
	if !finite(reward) {
		return
	}
	c.best = grown(c.best, arm+1)
	c.best[arm] = append(c.best[arm], max(reward, c.after(arm, len(c.best[arm]))))
	c.total++
}

// pulls returns the number of outcomes of arm.
func (c *courses) pulls(arm int) int {
	if arm >= len(c.best) {
		return 0
	}
	return len(c.best[arm])
}

// after returns the best of arm's first n outcomes, or of all if it has fewer. It is -Inf if there are none.
func (c *courses) after(arm, n int) float64 {
	n = min(n, c.pulls(arm))
	if n == 0 {
		return math.Inf(-1)
	}
	return c.best[arm][n-1]
}

// now returns arm's best reward so far, -Inf if there is none.
func (c *courses) now(arm int) float64 { return c.after(arm, c.pulls(arm)) }

// rank sorts arms by their best reward after n outcomes, largest first. Ties go to the lowest arm.
func (c *courses) rank(arms []int, n int) {
	slices.SortFunc(arms, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.after(b, n), c.after(a, n)), cmp.Compare(a, b))
	})
}
