package analysis

import (
	"fmt"
	"math"
	"slices"
)

// Quantile returns the q-quantile of values, interpolated between neighbours: with the values sorted from x₀ to
// x₍ₙ₋₁₎ and h = (n−1)·q,
//
//	x₍⌊h⌋₎ + (h − ⌊h⌋)·(x₍⌊h⌋₊₁₎ − x₍⌊h⌋₎)
//
// This is type 7 of R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50,
// 1996: the default of R and NumPy. It is NaN without values or if one is NaN. It panics unless q is in [0, 1].
func Quantile(values []float64, q float64) float64 {
	if !(q >= 0 && q <= 1) {
		panic(fmt.Sprintf("analysis: Quantile(%v): need 0 to 1", q))
	}
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 || math.IsNaN(sorted[0]) { // NaN sorts first
		return math.NaN()
	}
	return quantile(sorted, q)
}

// quantile returns the q-quantile of sorted values, of which there is at least one.
func quantile(sorted []float64, q float64) float64 {
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

// percentiles sorts values, and returns the quantiles that leave out half of 1 − level at either end.
func percentiles(values []float64, level float64) (low, high float64) {
	slices.Sort(values)
	if len(values) == 0 || math.IsNaN(values[0]) {
		return math.NaN(), math.NaN()
	}
	out := (1 - level) / 2
	return quantile(values, out), quantile(values, 1-out)
}
