package bandit

import "math"

// expWeights fills p with the exponential weights exp(rate·x)/Σexp(rate·x) over the open arms, and with 0
// elsewhere. nil means that all arms are open.
//
// Only differences from the likeliest arm are put into the exponential, so however large x is, nothing
// overflows.
func expWeights(p, x []float64, rate float64, open []bool) {
	at := -1 // the likeliest
	for arm := range p {
		if ok := open == nil || open[arm]; ok && (at < 0 || (x[arm] > x[at]) == (rate > 0) && x[arm] != x[at]) {
			at = arm
		}
	}
	var sum float64
	for arm := range p {
		p[arm] = 0
		if open != nil && !open[arm] {
			continue
		}
		p[arm] = 1
		if x[arm] != x[at] { // 0 times an infinite rate is NaN
			p[arm] = math.Exp(rate * (x[arm] - x[at]))
		}
		sum += p[arm]
	}
	for arm := range p {
		p[arm] /= sum
	}
}
