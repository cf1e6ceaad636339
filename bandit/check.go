package bandit

import (
	"fmt"
	"math"
)

// panicf panics over a parameter that is wrong, which is the programmer's mistake. It does not take the
// condition as well: then its arguments would be allocated at every draw, wrong or not.
func panicf(format string, args ...any) {
	panic("bandit: " + fmt.Sprintf(format, args...))
}

// finite reports whether x is neither NaN nor infinite. An Update ignores a reward that is not: see [Policy].
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
