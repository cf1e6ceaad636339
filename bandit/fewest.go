package bandit

// fewest returns the open arm with the fewest pulls among those that are eligible, the lowest one if there are
// several, and -1 if there is none.
func fewest(open []bool, eligible func(arm int) bool, pulls func(arm int) float64) int {
	at := -1
	for arm, ok := range open {
		if ok && eligible(arm) && (at < 0 || pulls(arm) < pulls(at)) {
			at = arm
		}
	}
	return at
}
