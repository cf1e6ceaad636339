package analysis

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/internal/bootstrap"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Bootstrap gives statistics confidence intervals: it draws runs with replacement, within each stratum as many as it
// has, computes the statistic for each such sample, and takes the percentiles of the results (B. Efron, "Bootstrap
// Methods: Another Look at the Jackknife", 1979; stratified as in R. Agarwal et al., "Deep Reinforcement Learning at
// the Edge of the Statistical Precipice", 2021). Percentiles are of type 7 of R. J. Hyndman, Y. Fan, "Sample Quantiles
// in Statistical Packages", 1996, the default of R and NumPy.
//
// With few runs in a stratum such intervals are too narrow: of n runs of equal spread, by the factor √((n−1)/n) and for
// the normal quantile in place of Student's. With ten runs a 95 % interval of a mean covers about 90 %, and less where
// runs are skewed. [Bootstrap.Paired] has a bootstrap-t for the difference, which covers better.
//
// The zero value is ready for use. Methods may be called concurrently.
type Bootstrap struct {
	Samples int     // number of samples; 0 means 2000
	Level   float64 // of the intervals, in (0, 1); 0 means 0.95
	Seed    uint64  // of the draws: sample i has the stream at (Seed, "bootstrap", i)
	// draws are fixed samples: by sample and stratum, the indices of the runs drawn. Methods that sample two Scores
	// separately need the strata of the first, then those of the second. nil means random samples.
	draws [][][]int

	fewer int // number of runs by which each stratum's samples are smaller than the stratum
}

// filled returns b with its defaults, or an error if it has a wrong value or draws that do not fit strata of these
// sizes.
func (b Bootstrap) filled(sizes []int) (Bootstrap, error) {
	b.Samples, b.Level = cmp.Or(b.Samples, 2000), cmp.Or(b.Level, 0.95)
	if b.draws != nil {
		b.Samples = len(b.draws)
	}
	switch {
	case b.Samples < 1:
		return b, fmt.Errorf("analysis: %d bootstrap samples: need at least 1", b.Samples)
	case !(b.Level > 0 && b.Level < 1):
		return b, fmt.Errorf("analysis: level %v: need more than 0, less than 1", b.Level)
	}
	for i, draw := range b.draws {
		if err := fits(draw, sizes); err != nil {
			return b, fmt.Errorf("analysis: sample %d of Draws %w", i, err)
		}
	}
	return b, nil
}

// fits returns an error unless draw has indices for strata of the given sizes.
func fits(draw [][]int, sizes []int) error {
	if len(draw) != len(sizes) {
		return fmt.Errorf("has %d strata: need %d", len(draw), len(sizes))
	}
	for s, drawn := range draw {
		if len(drawn) == 0 {
			return fmt.Errorf("has no runs for stratum %d", s)
		}
		for _, i := range drawn {
			if i < 0 || i >= sizes[s] {
				return fmt.Errorf("draws run %d of stratum %d, which has %d", i, s, sizes[s])
			}
		}
	}
	return nil
}

// each calls f with every sample of strata of these sizes. f must not keep draw. b must be filled.
func (b Bootstrap) each(sizes []int, f func(i int, draw [][]int)) {
	if b.draws != nil {
		for i, draw := range b.draws {
			f(i, draw)
		}
		return
	}
	plan := bootstrap.Plan{Samples: b.Samples, Fewer: b.fewer, Rand: func(i int) *rand.Rand {
		return stream.New(b.Seed, "bootstrap", uint64(i))
	}}
	plan.Each(sizes, f)
}

// intervals returns the estimates at value with the percentiles of the rows that f writes for the samples, at b's
// level. b must be filled.
func (b Bootstrap) intervals(sizes []int, value []float64, f func(draw [][]int, into []float64)) []Interval {
	return b.intervalsAt(slices.Repeat([]float64{b.Level}, len(value)), sizes, value, f)
}

// intervalsAt is intervals with a level for each estimate.
func (b Bootstrap) intervalsAt(levels []float64, sizes []int, value []float64,
	f func(draw [][]int, into []float64)) []Interval {
	replicates := make([][]float64, len(value)) // by number to estimate, then by sample
	for k := range value {
		replicates[k] = make([]float64, b.Samples)
	}
	row := make([]float64, len(value))
	b.each(sizes, func(i int, draw [][]int) {
		f(draw, row)
		for k, v := range row {
			replicates[k][i] = v
		}
	})
	all := make([]Interval, len(value))
	for k, v := range value {
		all[k].Value = v
		all[k].Low, all[k].High = bootstrap.Percentiles(replicates[k], levels[k])
	}
	return all
}

// Estimate returns a statistic of s with its interval. In samples the runs of a stratum are in ascending order. It
// returns an error if s has no strata, one without runs or a score that is not finite, or if b has a wrong value.
func (b Bootstrap) Estimate(s Scores, stat statistic) (Interval, error) {
	if err := s.validate("the scores"); err != nil {
		return Interval{}, err
	}
	b, err := b.filled(s.sizes())
	if err != nil {
		return Interval{}, err
	}
	sample := newSampler(s)
	return b.intervals(s.sizes(), []float64{stat(s)}, func(draw [][]int, into []float64) {
		into[0] = stat(sample.take(draw))
	})[0], nil
}
