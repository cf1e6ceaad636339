package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostRuns is the most that SampleSize, RunsFor and RunsToDecide return.
const mostRuns = 1 << 40

// SampleSize returns how many runs give the mean an interval of at most the given width: the least n ≥ 2 with
//
//	2·t·sd/√n ≤ width
//
// where t is the (1+level)/2 quantile of Student's distribution with n−1 degrees of freedom, and sd the standard
// deviation of runs, or of the differences of pairs (W. G. Cochran, "Sampling Techniques", 1977). sd is
// itself an estimate: of a pilot of ten runs it may well be off by a third, and n by two thirds. It returns an error
// unless sd ≥ 0, width > 0 and level is in (0, 1), or if it takes more than 2⁴⁰ runs.
func SampleSize(sd, width, level float64) (int, error) {
	if !(sd >= 0) || math.IsInf(sd, 0) || !(width > 0) || !(level > 0 && level < 1) {
		return 0, fmt.Errorf("analysis: SampleSize(sd %v, width %v, level %v): need sd at least 0, width above 0, level between 0 and 1", sd, width, level)
	}
	enough := func(n int) bool {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + level) / 2)
		return 2*t*sd <= width*math.Sqrt(float64(n))
	}
	n, ok := leastRuns(enough)
	if !ok {
		return 0, fmt.Errorf("analysis: an interval of width %v with sd %v takes more than %d runs", width, sd, mostRuns)
	}
	return n, nil
}

// RunsFor returns how many runs in all an interval that n runs made needs to get from a width to another. Widths fall
// with the square root of the number of runs, so it is ⌈n·(now/want)²⌉, and at least n. It is of use where the
// interval is not that of a mean, as a bootstrap's. It returns an error unless n ≥ 1 and both widths are above 0, or
// if it takes more than 2⁴⁰ runs.
func RunsFor(n int, now, want float64) (int, error) {
	if n < 1 || !(now > 0) || !(want > 0) {
		return 0, fmt.Errorf("analysis: RunsFor(%d runs, width %v to %v): need at least a run, and widths above 0", n, now, want)
	}
	runs := math.Ceil(float64(n)*(now/want)*(now/want) - 1e-9)
	if !(runs <= mostRuns) {
		return 0, fmt.Errorf("analysis: an interval of width %v in place of %v takes more than %d runs", want, now, mostRuns)
	}
	return max(n, int(runs)), nil
}
