package stream

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Draw draws an index with a chance in proportion to its weight. If all weights are 0 each index has the same
// chance. It panics over a weight that is negative or not finite.
func Draw(weights []float64, r *rand.Rand) int {
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			panic(fmt.Sprintf("stream: the weight of choice %d is %v: need a finite number, at least 0", i, w))
		}
		sum += w
	}
	if sum == 0 {
		return r.IntN(len(weights))
	}
	u, last := r.Float64()*sum, 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if last = i; u < w {
			return i
		}
		u -= w
	}
	return last // where rounding leaves u beyond all
}
