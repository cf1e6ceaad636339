package compare

import (
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A Difference is by how much a search ends above a baseline in a family, in true score.
type Difference struct {
	Family, Search string
	// Interval is the mean of the paired differences, with a 95 % bootstrap interval.
	analysis.Interval
	// P is the p-value of the sign-flip test, whose hypothesis is a difference of 0. It is corrected by Holm's method,
	// because the search is tested in all families. [analysis.SignFlip] says how small it can be.
	P float64
}

// flips are how many sign assignments a test draws. With 30 families Holm can still find a p-value of 0.003.
const flips = 9999

// Against compares a search with a baseline in each family, on the same seeds. It fails if the table has not both.
func (t *Table) Against(search, baseline string) ([]Difference, error) {
	if err := t.has(search, baseline); err != nil {
		return nil, err
	}
	all, p := make([]Difference, len(t.Families)), make([]float64, len(t.Families))
	for i, family := range t.Families {
		x, y := t.Scores(search)[i:i+1], t.Scores(baseline)[i:i+1]
		c, err := analysis.Bootstrap{}.Paired(x, y)
		if err != nil {
			return nil, fmt.Errorf("compare: %s in %s: %w", search, family, err)
		}
		if p[i], err = analysis.SignFlip(x, y, flips, 0); err != nil {
			return nil, fmt.Errorf("compare: %s in %s: %w", search, family, err)
		}
		all[i] = Difference{Family: family, Search: search, Interval: c.Difference}
	}
	for i, corrected := range analysis.Holm(p) {
		all[i].P = corrected
	}
	return all, nil
}

// has returns an error that names a search that the table has not.
func (t *Table) has(searches ...string) error {
	for _, s := range searches {
		if !slices.Contains(t.Searches, s) {
			return fmt.Errorf("compare: the table has no search %q", s)
		}
	}
	return nil
}
