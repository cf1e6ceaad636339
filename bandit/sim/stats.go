package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

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

// String returns the value and the ends of the interval, to four digits: "0.636 [0.4, 0.71]".
func (i Interval) String() string { return fmt.Sprintf("%.4g [%.4g, %.4g]", i.Value, i.Low, i.High) }

// A Summary is what the runs of a policy have in common.
type Summary struct {
	Runs int      // how many there are
	Mean Interval // their mean
	// IQM is the interquartile mean, that of the middle half of the runs: with n runs, n/4 of them,
	// rounded down, are left out at either end. It is less swayed by a few odd runs than the mean and
	// uses more of them than the median (R. Agarwal et al., "Deep Reinforcement Learning at the Edge of
	// the Statistical Precipice", 2021).
	IQM Interval
}

// Summarize returns the mean and the interquartile mean of values, all NaN if there are none.
func Summarize(values []float64) Summary { return SummarizeAll([][]float64{values}) }

// SummarizeAll returns the mean and the interquartile mean of the values of all strata together, say of the
// runs in several settings. The bootstrap draws within each stratum, so its interval is about other runs in
// the same settings.
func SummarizeAll(strata [][]float64) Summary {
	all := slices.Concat(strata...)
	n := len(all)
	if n == 0 {
		nan := Interval{math.NaN(), math.NaN(), math.NaN()}
		return Summary{Mean: nan, IQM: nan}
	}
	order, sorted := sortedOrder(all)
	ones := slices.Repeat([]int{1}, n)
	s := Summary{Runs: n}
	s.Mean.Value, s.IQM.Value = trimmed(sorted, ones, 0), trimmed(sorted, ones, n/4)
	means, iqms := make([]float64, resamples), make([]float64, resamples)
	sizes, counts := make([]int, len(strata)), make([]int, n)
	for i, stratum := range strata {
		sizes[i] = len(stratum)
	}
	plan().Each(sizes, func(i int, draw [][]int) {
		clear(counts)
		first := 0
		for k, drawn := range draw {
			for _, j := range drawn {
				counts[order[first+j]]++
			}
			first += sizes[k]
		}
		means[i], iqms[i] = trimmed(sorted, counts, 0), trimmed(sorted, counts, n/4)
	})
	s.Mean.Low, s.Mean.High = bootstrap.Percentiles(means, confidence)
	s.IQM.Low, s.IQM.High = bootstrap.Percentiles(iqms, confidence)
	return s
}

// sortedOrder returns the values sorted, and for each value its place among the sorted ones.
func sortedOrder(values []float64) (place []int, sorted []float64) {
	from := make([]int, len(values))
	for i := range from {
		from[i] = i
	}
	slices.SortFunc(from, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	place, sorted = make([]int, len(values)), make([]float64, len(values))
	for i, j := range from {
		place[j], sorted[i] = i, values[j]
	}
	return place, sorted
}

// plan returns what draws the same samples every time.
func plan() bootstrap.Plan {
	return bootstrap.Plan{Samples: resamples, Rand: bootstrap.Same(rand.New(rand.NewPCG(1979, 0)))}
}

// trimmed returns the mean of a sample without its cut smallest and cut largest members. The sample has
// counts[i] of sorted[i].
func trimmed(sorted []float64, counts []int, cut int) float64 {
	var sum float64
	at, last := 0, len(sorted)-cut
	for i, c := range counts {
		taken := min(at+c, last) - max(at, cut)
		if taken > 0 {
			sum += float64(taken) * sorted[i]
		}
		at += c
	}
	return sum / float64(last-cut)
}

// symmetric returns the ends of the interval about an estimate that 95 % of its samples lie in. If there are no
// samples, both ends are the estimate.
func symmetric(samples []float64, estimate float64) (low, high float64) {
	if len(samples) == 0 {
		return estimate, estimate
	}
	off := make([]float64, len(samples))
	for i, v := range samples {
		off[i] = math.Abs(v - estimate)
	}
	slices.Sort(off)
	reach := bootstrap.Quantile(off, confidence)
	return estimate - reach, estimate + reach
}

// NotReached stands for the number of pulls to a score that a run did not reach.
const NotReached = -1

// reliable returns the least number of pulls after which at least the given share of runs has reached a
// score, or [NotReached]. first is what each run needed. It panics unless share is in (0, 1] and there are
// runs.
func reliable(first []int, share float64) int {
	if len(first) == 0 || !(share > 0 && share <= 1) {
		panic(fmt.Sprintf("sim: reliable(%d runs, %v): need runs, and a share in (0, 1]", len(first), share))
	}
	sorted := slices.Clone(first)
	slices.SortFunc(sorted, compareReach)
	return sorted[needed(len(sorted), share)-1]
}

// needed returns how many of n runs are at least the share.
func needed(n int, share float64) int { return int(math.Ceil(share*float64(n) - 1e-9)) }

// compareReach orders numbers of pulls; [NotReached] comes last.
func compareReach(a, b int) int {
	switch {
	case a == b:
		return 0
	case b == NotReached || a != NotReached && a < b:
		return -1
	}
	return 1
}

// reliableLevel returns the highest score that at least the given share of the runs has reached.
func reliableLevel(scores []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(scores))
	return sorted[len(sorted)-needed(len(sorted), share)]
}
