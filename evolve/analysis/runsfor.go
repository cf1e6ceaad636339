package analysis

import (
	"fmt"
	"math"
)

// mostRuns is the most that RunsFor returns.
const mostRuns = 1 << 40

// RunsFor returns the total number of runs that narrow an interval from n runs from one width to another. Widths fall
// with the square root of the number of runs, so it is ⌈n·(now/want)²⌉, and at least n. It is useful for
// intervals other than a mean's, such as a bootstrap's. It returns an error unless n ≥ 1 and both widths are above 0,
// or if it takes more than 2⁴⁰ runs.
func RunsFor(n int, now, want float64) (int, error) {
	if n < 1 || !(now > 0) || !(want > 0) {
		return 0, fmt.Errorf("analysis: RunsFor(%d runs, width %v to %v): need at least a run, and widths above 0",
			n, now, want)
	}
	runs := math.Ceil(float64(n)*(now/want)*(now/want) - 1e-9)
	if !(runs <= mostRuns) {
		return 0, fmt.Errorf("analysis: an interval of width %v in place of %v takes more than %d runs", want, now, mostRuns)
	}
	return max(n, int(runs)), nil
}
