package bandit

import "slices"

// A climb is the course of an arm's best score. It holds only the pulls that raised the score, since those
// are few.
type climb struct {
	pulls int
	rises []rise
}

// A rise is a pull, counted from 1, that raised the best score of its arm, and that score. The first pull
// always counts as one.
type rise struct {
	pull  int
	score float64
}

// add records the outcome of a pull.
func (c *climb) add(score float64) {
	c.pulls++
	if n := len(c.rises); n == 0 || score > c.rises[n-1].score {
		c.rises = append(c.rises, rise{c.pulls, score})
	}
}

// rose returns how many of the first n pulls raised the score.
func (c *climb) rose(n int) int {
	i, found := slices.BinarySearchFunc(c.rises, n, func(r rise, n int) int { return r.pull - n })
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
