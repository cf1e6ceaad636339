package sim

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/internal/bootstrap"
)

const (
	resamples  = 2000
	confidence = 0.95
)

// An Interval is an estimate and its 95 % bootstrap interval: the percentiles 2.5 and 97.5, unless said otherwise,
// of the estimate over 2000 samples drawn from the runs with replacement (B. Efron, "Bootstrap Methods: Another
// Look at the Jackknife", 1979). The drawing has a fixed seed, so equal runs give equal intervals.
type Interval struct{ Value, Low, High float64 }

// String returns the value and the ends of the interval, to three decimals: "0.636 [0.400, 0.710]".
func (i Interval) String() string { return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High) }

// unknown returns the interval of nothing.
func unknown() Interval { return Interval{math.NaN(), math.NaN(), math.NaN()} }

// Mean returns the mean of the values of all strata together, NaN if there are none. A stratum is the runs in one
// setting: the bootstrap draws within each, so the interval is about other runs in the same settings.
func Mean(strata ...[]float64) Interval {
	sizes, n, sum := make([]int, len(strata)), 0, 0.0
	for i, values := range strata {
		sizes[i] = len(values)
		n += len(values)
		for _, v := range values {
			sum += v
		}
	}
	if n == 0 {
		return unknown()
	}
	means := make([]float64, resamples)
	plan().Each(sizes, func(i int, draw [][]int) {
		for k, drawn := range draw {
			for _, j := range drawn {
				means[i] += strata[k][j]
			}
		}
		means[i] /= float64(n)
	})
	low, high := bootstrap.Percentiles(means, confidence)
	return Interval{sum / float64(n), low, high}
}

// plan returns what draws the same samples every time.
func plan() bootstrap.Plan {
	return bootstrap.Plan{Samples: resamples, Rand: bootstrap.Same(rand.New(rand.NewPCG(1979, 0)))}
}
