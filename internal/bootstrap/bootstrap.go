// Package bootstrap draws samples of runs with replacement, and takes the percentiles of what is worked out in them
// (B. Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979). evolve/analysis and bandit/sim make their
// intervals with it.
package bootstrap

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Plan says which samples are drawn.
type Plan struct {
	Samples int                    // how many
	Fewer   int                    // members fewer than there are in each stratum of a sample
	Rand    func(i int) *rand.Rand // the generator of sample i, which may be the same one for all
}

// Each draws the samples in order and calls f with each: by stratum, as many of its members as there are less Fewer.
// sizes are how many members strata have. f must not keep draw.
func (p Plan) Each(sizes []int, f func(i int, draw [][]int)) {
	draw := make([][]int, len(sizes))
	for s, n := range sizes {
		draw[s] = make([]int, n-p.Fewer)
	}
	for i := range p.Samples {
		r := p.Rand(i)
		for s, n := range sizes {
			for j := range draw[s] {
				draw[s][j] = r.IntN(n)
			}
		}
		f(i, draw)
	}
}

// Same returns a generator for all samples.
func Same(r *rand.Rand) func(int) *rand.Rand { return func(int) *rand.Rand { return r } }

// Quantile returns the q-quantile of values in ascending order, interpolated between neighbours: with values from x₀ to
// x₍ₙ₋₁₎ and h = (n−1)·q,
//
//	x₍⌊h⌋₎ + (h − ⌊h⌋)·(x₍⌊h⌋₊₁₎ − x₍⌊h⌋₎)
//
// This is type 7 of R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50,
// 1996: the default of R and NumPy. There must be a value, and q must be in [0, 1].
func Quantile(sorted []float64, q float64) float64 {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	if h == float64(i) || sorted[i] == sorted[i+1] {
		return sorted[i] // also where the next, or both, are infinite
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// Percentiles sorts values, and returns the quantiles that leave out half of 1 − level at either end. Both are NaN
// without values or if one is NaN.
func Percentiles(values []float64, level float64) (low, high float64) {
	slices.Sort(values)
	if len(values) == 0 || math.IsNaN(values[0]) { // NaN sorts first
		return math.NaN(), math.NaN()
	}
	out := (1 - level) / 2
	return Quantile(values, out), Quantile(values, 1-out)
}
