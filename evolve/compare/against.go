package compare

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A Comparison says which of two searches is better at one budget, by how much, and how surely.
type Comparison struct {
	Search, Baseline string
	Runs             int // paired, in all families together
	// Difference is by how much Search ends above Baseline in true score, in the mean over families, which count alike.
	// Its interval is a 95 % bootstrap interval over the pairs of runs of each family.
	Difference analysis.Interval
	// P is the p-value of the sign-flip test over all pairs, whose hypothesis is that differences are symmetric about 0.
	P float64
	// Families has the difference in each family, in the order in which the runs have them first.
	Families []Difference

	sd float64 // of a seed's mean difference, see [pairedSD]
}

// A Difference is by how much a search ends above a baseline in a family, in true score.
type Difference struct {
	Family string
	Runs   int // paired
	// Interval is the mean of the paired differences, with a 95 % bootstrap interval.
	analysis.Interval
	// P is the p-value of the sign-flip test, corrected by Holm's method because the search is tested in all families.
	// [analysis.SignFlip] says how small it can be.
	P float64
}

// flips are how many sign assignments a test draws. With 30 families Holm can still find a p-value of 0.003.
const flips = 9999

// Against compares a search with a baseline over all families of the runs. Of each family it takes the seeds that both
// have. It fails if a search has a seed of a family twice, or if the two have no seed of a family in common.
func Against(runs []Run, search, baseline string) (Comparison, error) {
	c := Comparison{Search: search, Baseline: baseline}
	families, x, y, err := pair(runs, search, baseline)
	if err != nil {
		return c, err
	}
	p := make([]float64, len(families))
	for i, family := range families {
		d, at, err := difference(x[i:i+1], y[i:i+1])
		if err != nil {
			return c, fmt.Errorf("compare: %s in %s: %w", search, family, err)
		}
		c.Families = append(c.Families, Difference{Family: family, Runs: d.Runs, Interval: d.Difference})
		p[i] = at
	}
	for i, corrected := range analysis.Holm(p) {
		c.Families[i].P = corrected
	}
	d, at, err := difference(x, y)
	if err != nil {
		return c, fmt.Errorf("compare: %s against %s: %w", search, baseline, err)
	}
	c.Runs, c.Difference, c.P, c.sd = d.Runs, d.Difference, at, pairedSD(x, y)
	return c, nil
}

// difference returns the paired difference of x and y, and the p-value of the hypothesis that it is 0.
func difference(x, y analysis.Scores) (analysis.Comparison, float64, error) {
	d, err := analysis.Bootstrap{}.Paired(x, y)
	if err != nil {
		return d, 0, err
	}
	p, err := analysis.SignFlip(x, y, flips, 0)
	return d, p, err
}

// pair returns the families of the runs, in the order in which the runs have them first, and by family the true scores
// of both searches on the seeds that both have, by seed.
func pair(runs []Run, search, baseline string) (families []string, x, y analysis.Scores, err error) {
	type place struct{ family, search string }
	scores := map[place]map[uint64]float64{} // by seed
	for _, r := range runs {
		if !slices.Contains(families, r.Family) {
			families = append(families, r.Family)
		}
		at := place{r.Family, r.Search}
		if _, twice := scores[at][r.Seed]; twice {
			return nil, nil, nil, fmt.Errorf("compare: two runs of %s on %s with seed %d: give each once",
				r.Search, r.Family, r.Seed)
		}
		if scores[at] == nil {
			scores[at] = map[uint64]float64{}
		}
		scores[at][r.Seed] = r.Score
	}
	x, y = make(analysis.Scores, len(families)), make(analysis.Scores, len(families))
	for i, family := range families {
		of, base := scores[place{family, search}], scores[place{family, baseline}]
		for _, seed := range slices.Sorted(maps.Keys(of)) {
			if b, both := base[seed]; both {
				x[i], y[i] = append(x[i], of[seed]), append(y[i], b)
			}
		}
		if len(x[i]) == 0 {
			return nil, nil, nil, fmt.Errorf("compare: no seed of family %s has a run of %q and one of %q",
				family, search, baseline)
		}
	}
	if len(families) == 0 {
		return nil, nil, nil, errors.New("compare: no runs to compare")
	}
	return families, x, y, nil
}

// fewestDecide is the least number of pairs whose interval decides: with fewer, all differences of two equal searches
// have one sign in more than one comparison of twenty, and the interval leaves out 0.
const fewestDecide = 6

// Winner returns the name of the better search, or "" if the interval does not decide. That of fewer than six pairs
// does not, nor that of a family with one, whose spread nobody knows.
func (c Comparison) Winner() string {
	switch {
	case c.Runs < fewestDecide || math.IsNaN(c.sd):
		return ""
	case c.Difference.Low > 0:
		return c.Search
	case c.Difference.High < 0:
		return c.Baseline
	}
	return ""
}

// SeedsFor returns how many seeds of each family find a difference of a given size with a power of 80 %, so that a 95 %
// interval leaves out 0. It fails if the difference is 0, if a family has one seed alone, or if it takes too many.
func (c Comparison) SeedsFor(difference float64) (int, error) {
	if math.IsNaN(c.sd) {
		return 0, errors.New("compare: one seed does not tell how many decide: need at least 2")
	}
	return analysis.RunsToDecide(c.sd, difference, 0.95, 0.8)
}

// pairedSD returns the standard deviation of a seed's mean difference over F strata, from those s of the strata:
//
//	SD² = Σ s²/F²
//
// It is NaN if a stratum has one pair.
func pairedSD(x, y analysis.Scores) float64 {
	sum := 0.0
	for i := range x {
		differences := make([]float64, len(x[i]))
		for j := range differences {
			differences[j] = x[i][j] - y[i][j]
		}
		sum += stat.Variance(differences, nil)
	}
	return math.Sqrt(sum) / float64(len(x))
}
