package analysis

import "slices"

// A Comparison is the first of two methods against the second, with bootstrap intervals.
type Comparison struct {
	Strata int `json:"strata"`
	Runs   int `json:"runs"` // of the first method, in all strata
	// Difference is [Mean] of the first less that of the second. Of paired runs its interval is that of a bootstrap-t,
	// which holds for skewed differences too; with fewer than six pairs, or one in a stratum, it is of percentiles.
	Difference Interval `json:"difference"`
	// IQM is [IQM] of the first less that of the second.
	IQM Interval `json:"iqm_difference"`
	// Improvement is the probability that a run of the first is better than one of the second, ties counted half. It
	// compares each run with all runs of the other method, even if runs are paired.
	Improvement Interval `json:"improvement"`
}

// Paired compares two methods whose runs are paired: x[s][i] and y[s][i] have the same seed, the same start, the same
// landscape. A sample takes both runs of a pair or neither, so what they share cancels, which can make intervals of
// differences much narrower than those of [Bootstrap.Unpaired]. It returns an error unless x and y have the same shape
// and finite scores, or if b has a wrong value.
func (b Bootstrap) Paired(x, y Scores) (Comparison, error) {
	if err := validatePair(x, y, true); err != nil {
		return Comparison{}, err
	}
	c, err := b.compare(x, y, x.sizes(), func(draw [][]int) ([][]int, [][]int) { return draw, draw })
	if err != nil {
		return c, err
	}
	b, _ = b.filled(x.sizes()) // compare would have failed
	if i, ok := b.studentized(x.minus(y)); ok {
		c.Difference = i
	}
	return c, nil
}

// Unpaired compares two methods whose runs share only their strata. It returns an error unless x and y have the same
// number of strata, each with runs and finite scores, or if b has a wrong value.
func (b Bootstrap) Unpaired(x, y Scores) (Comparison, error) {
	if err := validatePair(x, y, false); err != nil {
		return Comparison{}, err
	}
	return b.compare(x, y, slices.Concat(x.sizes(), y.sizes()), func(draw [][]int) ([][]int, [][]int) {
		return draw[:len(x)], draw[len(x):]
	})
}

// compare draws samples of these sizes, which split divides between x and y.
func (b Bootstrap) compare(x, y Scores, sizes []int, split func(draw [][]int) (dx, dy [][]int)) (Comparison, error) {
	b, err := b.filled(sizes)
	if err != nil {
		return Comparison{}, err
	}
	value := make([]float64, 3)
	contrast(x, y, value)
	ofX, ofY := newSampler(x), newSampler(y)
	of := b.intervals(sizes, value, func(draw [][]int, into []float64) {
		dx, dy := split(draw)
		contrast(ofX.take(dx), ofY.take(dy), into)
	})
	return Comparison{
		Strata: len(x), Runs: x.runs(),
		Difference: of[0], IQM: of[1], Improvement: of[2],
	}, nil
}

// contrast computes the estimates of a Comparison.
func contrast(x, y Scores, into []float64) {
	into[0] = Mean(x) - Mean(y)
	into[1] = IQM(x) - IQM(y)
	into[2] = improvement(x, y)
}
