package bandit

import "slices"

// A climb is the course of an arm's best score. It holds only the pulls that raised the score, since those
// are few.
type climb struct {
	calls, pulls int
	rises        []rise
}

// A rise is a pull that raised the best score of its arm: the calls of the arm until its end, and the score. The
// first pull always counts as one.
type rise struct {
	calls int
	score float64
}

// add records the outcome of a pull of so many calls.
func (c *climb) add(score float64, calls int) {
	c.calls += calls
	c.pulls++
	if n := len(c.rises); n == 0 || score > c.rises[n-1].score {
		c.rises = append(c.rises, rise{c.calls, score})
	}
}

// within returns the calls of the first half of the pulls, for a part of 2, or of the first quarter, for one of 4, as
// if pulls were equally large.
func (c *climb) within(part int) int { return c.calls * (c.pulls / part) / max(c.pulls, 1) }

// rose returns how often the score rose within the first n calls.
func (c *climb) rose(n int) int {
	i, found := slices.BinarySearchFunc(c.rises, n, func(r rise, n int) int { return r.calls - n })
	if found {
		i++
	}
	return i
}

// score returns the best score after the given number of rises, which is start if there is none.
func (c *climb) score(rises int, start float64) float64 {
	if rises == 0 {
		return start
	}
	return c.rises[rises-1].score
}

// jumps returns how many pulls raised the score after the given number of rises, for an arm that starts from
// start. The first pull is left out if it did not score above start.
func (c *climb) jumps(rises int, start float64) int {
	n := len(c.rises) - rises
	if n > 0 && rises == 0 && c.rises[0].score <= start {
		n--
	}
	return n
}
