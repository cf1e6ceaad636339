package bandit

// mixUniform replaces each p by (1 − share)·p + share/K, where K is the number of open arms. Closed arms keep
// what they have, which is 0. nil means that all arms are open.
func mixUniform(p []float64, open []bool, share float64) {
	k := len(p)
	if open != nil {
		k = countOpen(open)
	}
	each := share / float64(k)
	for arm := range p {
		if open == nil || open[arm] {
			p[arm] = (1-share)*p[arm] + each
		}
	}
}

func countOpen(open []bool) int {
	n := 0
	for _, ok := range open {
		if ok {
			n++
		}
	}
	return n
}
