package bandit

import (
	"fmt"
	"math"
)

// panicf says which parameter is wrong, which is the programmer's mistake. A helper that took the
// condition would allocate its arguments at every draw.
func panicf(format string, args ...any) {
	panic("bandit: " + fmt.Sprintf(format, args...))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func countOpen(open []bool) int {
	n := 0
	for _, ok := range open {
		if ok {
			n++
		}
	}
	return n
}

// unit maps [lo, hi] to [0, 1] and clips what lies outside.
func unit(x, lo, hi float64) float64 { return min(max((x-lo)/(hi-lo), 0), 1) }

// inFlight returns the number of pulls in flight, of all arms.
func inFlight(r Round) float64 {
	var n int
	for _, flying := range r.Pending {
		n += flying
	}
	return float64(n)
}
