package bandit

import "math"

// OneHot fills p for a policy that always pulls the best arm. It gives mass 1 to the open arm with the
// largest index and 0 to every other. Ties go to the lowest arm. index is called for open arms only, in
// order. It may return +Inf for "this one first"; NaN counts as -Inf. At least one arm must be open.
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
