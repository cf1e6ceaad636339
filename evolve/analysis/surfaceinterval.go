package analysis

import (
	"fmt"
	"math"
	"slices"
)

// SurfaceIntervals are the intervals of a [Surface]'s coefficients and of the best splits by it.
type SurfaceIntervals struct {
	B0 Interval `json:"b0"`
	A  Interval `json:"a"`
	B  Interval `json:"b"`
	C  Interval `json:"c"`
	R2 Interval `json:"r2"`
	// Splits are by budget, in the order asked for.
	Splits []SplitInterval `json:"splits"`
}

// A SplitInterval is the interval of the best depth for a budget.
type SplitInterval struct {
	Calls float64  `json:"C"`
	T     Interval `json:"T"`
	N     Interval `json:"N"` // C/T
	// Interior is the share of samples whose best split is not a corner. If it is neither near 0 nor near 1, the data
	// do not say whether there is a best split inside.
	Interior float64 `json:"interior_share"`
}

// The least number of seeds for an interval.
const (
	leastBySearch = 3 // of each breadth
	leastBySeed   = 5
)

// Resampling says what a sample of a [Grid] is drawn from.
type Resampling int

const (
	// BySearch draws the searches of each breadth, with all their cells together. Searches of different breadths have
	// to be independent, as those of one seed and two breadths are: their children have other seeds.
	BySearch Resampling = iota
	// BySeed draws seeds, each with its searches of all breadths. It is for seeds that decide something besides, a
	// landscape or a start, so that searches of one seed do well or badly together. Intervals then rest on as many
	// units as there are seeds, and need ten or more. Where such seeds are drawn by search, intervals are too wide.
	BySeed
)

// Intervals returns the intervals of the surface and of the best splits of the given budgets of calls. Samples are
// drawn from searches, not from cells: the cells of one breadth are the same searches at several depths and go up and
// down together. The surface is fitted again to each sample, and the ends are percentiles.
//
// A sample has one search fewer than there are in each breadth. Its means then vary as those of new searches would:
// with as many as there are the variance is too small by the factor (n−1)/n, which matters with few seeds (J. N. K.
// Rao, C. F. J. Wu, "Resampling Inference With Complex Survey Data", J. Am. Stat. Assoc. 83, 1988). The percentiles
// lie further out than the level's, as Student's quantiles do (T. C. Hesterberg, "What Teachers Should Know About the
// Bootstrap", The American Statistician 69, 2015), with the degrees of freedom that the searches leave (F. E.
// Satterthwaite, 1946). With given b.draws nothing of this is done: samples are as they are, with a stratum for each
// breadth or with BySeed one, and percentiles plain.
//
// docs/claims.md has how often such intervals cover on simulated surfaces.
//
// It returns an error if the surface cannot be fitted, or if a breadth has fewer than 3 seeds, with BySeed 5.
func (g *Grid) Intervals(b Bootstrap, by Resampling, budgets ...float64) (SurfaceIntervals, error) {
	d, err := g.bilinear()
	if err != nil {
		return SurfaceIntervals{}, err
	}
	sizes, err := g.units(by)
	if err != nil {
		return SurfaceIntervals{}, err
	}
	if b, err = b.filled(sizes); err != nil {
		return SurfaceIntervals{}, err
	}
	for _, calls := range budgets {
		if !(calls >= 1) || math.IsInf(calls, 0) {
			return SurfaceIntervals{}, fmt.Errorf("analysis: a budget of %v calls: need at least 1", calls)
		}
	}
	b.fewer = 1
	y := g.gaps()
	row := make([]float64, 5+2*len(budgets))
	describe(d, y, budgets, row)
	refit := func(draw [][]int, into []float64) {
		g.resample(draw, y)
		describe(d, y, budgets, into)
	}
	levels := slices.Repeat([]float64{b.Level}, len(row))
	if b.draws == nil {
		for k, df := range degrees(sizes, len(row), refit) {
			levels[k] = expanded(b.Level, df)
		}
	}
	inside := make([]int, len(budgets))
	all := b.intervalsAt(levels, sizes, row, func(draw [][]int, into []float64) {
		refit(draw, into)
		for k := range budgets {
			inside[k] += int(into[6+2*k])
		}
	})
	in := SurfaceIntervals{B0: all[0], A: all[1], B: all[2], C: all[3], R2: all[4]}
	for k, calls := range budgets {
		t := all[5+2*k]
		n := Interval{calls / t.Value, calls / t.High, calls / t.Low}
		in.Splits = append(in.Splits, SplitInterval{calls, t, n, float64(inside[k]) / float64(b.Samples)})
	}
	return in, nil
}

// units returns how many units each stratum has, an error if they are too few.
func (g *Grid) units(by Resampling) ([]int, error) {
	var sizes []int
	least := leastBySearch
	if by == BySeed {
		least = leastBySeed
	}
	for _, b := range g.breadths {
		if len(b.seeds) < least {
			return nil, fmt.Errorf("analysis: breadth %d has %d seeds: an interval takes at least %d, better ten",
				b.n, len(b.seeds), least)
		}
		if by == BySeed && !slices.Equal(b.seeds, g.breadths[0].seeds) {
			return nil, fmt.Errorf("analysis: breadths %d and %d have different seeds: BySeed takes the same ones",
				g.breadths[0].n, b.n)
		}
		sizes = append(sizes, len(b.seeds))
	}
	switch by {
	case BySearch:
		return sizes, nil
	case BySeed:
		return sizes[:1], nil
	}
	return nil, fmt.Errorf("analysis: Resampling %d: need BySearch or BySeed", by)
}

// resample writes the gaps of the cells' means over the searches drawn. draw has a stratum for each breadth, or one for
// all.
func (g *Grid) resample(draw [][]int, y []float64) {
	for i, b := range g.breadths {
		drawn := draw[min(i, len(draw)-1)]
		for k, scores := range b.scores {
			y[b.first+k] = lnGap(meanOf(scores, drawn), g.Ceiling, g.epsilon)
		}
	}
}

// describe fits the surface to y and writes its coefficients, R², and for each budget the best depth and 1 if it is
// inside.
func describe(d *design, y, budgets, into []float64) {
	coef := into[:4]
	d.solve(y, coef)
	into[4] = rSquared(d.squares(y, coef))
	s := Surface{B0: coef[0], A: coef[1], B: coef[2], C: coef[3]}
	for k, calls := range budgets {
		x, interior := s.best(math.Log(calls))
		into[5+2*k], into[6+2*k] = math.Exp(x), 0
		if interior {
			into[6+2*k] = 1
		}
	}
}
