package analysis

import (
	"math"
	"slices"
)

// A statistic summarizes scores in a number, as [Mean] and [IQM] do. It must not keep or change its argument, which a
// bootstrap reuses.
type statistic func(Scores) float64

// Mean returns the mean over strata of the mean over their runs, so that strata count equally whatever their sizes. It
// is NaN without scores.
func Mean(s Scores) float64 {
	return average(len(s), func(i int) float64 { return mean(s[i]) })
}

// mean returns the mean of values, NaN without any.
func mean(values []float64) float64 {
	return average(len(values), func(i int) float64 { return values[i] })
}

// average returns the mean of n values, or NaN for none. It sums differences from the first value, so that the mean of
// equal values is exactly that value. A plain sum of ten times 0.7 is not 7, and methods whose runs all end on one
// plateau would seem to differ.
func average(n int, value func(i int) float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	first, above := value(0), 0.0
	for i := 1; i < n; i++ {
		above += value(i) - first
	}
	return first + above/float64(n)
}

// IQM returns the interquartile mean: of the n runs of all strata together, the mean of those that are left without
// the ⌊n/4⌋ smallest and the ⌊n/4⌋ largest. A few odd runs sway it less than the mean, and it uses more of the runs
// than the median (R. Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice", 2021,
// section 4.3). It is NaN without scores.
func IQM(s Scores) float64 {
	sorted := ascending(slices.Concat(s...))
	if len(sorted) > 0 && math.IsNaN(sorted[0]) {
		return math.NaN() // it sorts first, so it would be trimmed
	}
	cut := len(sorted) / 4
	return mean(sorted[cut : len(sorted)-cut])
}
