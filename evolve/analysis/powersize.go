package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// RunsToDecide returns how many runs, or pairs of runs, find a mean difference with a given power: the least n ≥ 2 with
//
//	(t + t')·sd/√n ≤ |difference|
//
// where t is the (1+level)/2 quantile of Student's distribution with n−1 degrees of freedom, and t' its quantile at
// power. An interval of that level over n runs then leaves out 0 with about that chance. sd is that of the runs'
// differences. (S.-C. Chow, J. Shao, H. Wang, "Sample Size Calculations in Clinical Research", 2008, section 3.1, with
// Student's quantiles for both.)
//
// A difference that was itself estimated from few runs is often too large, and n then too small. It returns an error
// unless sd ≥ 0 is finite, the difference is finite and not 0, and level and power are in (0, 1), or if it takes more
// than 2⁴⁰ runs.
func RunsToDecide(sd, difference, level, power float64) (int, error) {
	inside := func(p float64) bool { return p > 0 && p < 1 }
	if !(sd >= 0) || math.IsInf(sd, 0) || math.IsNaN(difference) || math.IsInf(difference, 0) || difference == 0 ||
		!inside(level) || !inside(power) {
		return 0, fmt.Errorf("analysis: RunsToDecide(sd %v, difference %v, level %v, power %v): "+
			"need sd at least 0, a difference other than 0, level and power between 0 and 1", sd, difference, level, power)
	}
	enough := func(n int) bool {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
		return (t.Quantile((1+level)/2)+t.Quantile(power))*sd <= math.Abs(difference)*math.Sqrt(float64(n))
	}
	n, ok := leastRuns(enough)
	if !ok {
		return 0, fmt.Errorf("analysis: a difference of %v with sd %v takes more than %d runs to find",
			difference, sd, mostRuns)
	}
	return n, nil
}

// leastRuns returns the least n ≥ 2 for which enough holds, which has to hold for all larger ones too. It is false if
// that is above mostRuns.
func leastRuns(enough func(n int) bool) (n int, ok bool) {
	low, high := 1, 2 // low is not enough
	for !enough(high) {
		if low, high = high, 2*high; high > mostRuns {
			return 0, false
		}
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}
