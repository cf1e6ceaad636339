package bandit

import "math"

// OneHot is the distribution of a policy that always pulls the best arm: it gives mass 1 to the
// open arm with the largest index and 0 to every other. Ties go to the lowest arm. index is called
// for open arms only, in order; +Inf is the way to say "this one first", and NaN counts as -Inf.
// At least one arm must be open.
func OneHot(p []float64, open []bool, index func(arm int) float64) {
	clear(p)
	best, at := math.Inf(-1), -1
	for arm, ok := range open {
		if !ok {
			continue
		}
		if v := index(arm); at < 0 || v > best {
			at = arm
			if !math.IsNaN(v) {
				best = v
			}
		}
	}
	p[at] = 1
}
