package eval

import (
	"math"
	"slices"
)

// medianChance is the least chance with which a range of [Samples.MedianRange] holds the median.
const medianChance = 0.92

// MedianRange returns a range of scores that holds the median score of the program, and the chance with which it does,
// whatever the law of the noise: it asks for no mean, and a tail on one side, as timings have it, moves it little. The
// range is from the k-th lowest to the k-th highest of n scores, and the chance
//
//	1 − 2·Σ_{i<k} C(n, i)/2ⁿ
//
// as each score is above the median with a chance of one half (W. R. Thompson, "On Confidence Ranges for the Median",
// 1936). k is the largest with which it is at least 0.92: 0.930 of eight samples, where k is 2. ok is false with fewer
// than five scores, of which no range is so sure.
func (s *Samples) MedianRange() (low, high, chance float64, ok bool) {
	if s == nil {
		return 0, 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(s.Scores))
	n, k := len(sorted), 0
	left := 1.0 // the chance of the range after next
	for 2*k < n-1 {
		term := binomial(n, k)
		if left-2*term < medianChance {
			break
		}
		left -= 2 * term
		k++
	}
	if k == 0 {
		return 0, 0, 0, false
	}
	return sorted[k-1], sorted[n-k], left, true
}

// binomial returns C(n, k)/2ⁿ, which is computed by logarithms: 2ⁿ alone overflows from n = 1024 on.
func binomial(n, k int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	some, _ := math.Lgamma(float64(k + 1))
	others, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(all - some - others - float64(n)*math.Ln2)
}
