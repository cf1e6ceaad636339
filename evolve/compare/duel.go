package compare

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A Duel says which of two searches is better at one budget, by how much, and how surely.
type Duel struct {
	A, B string
	Runs int // paired, in all families together
	// Difference is by how much A ends above B in true score, in the mean over families, which count alike. Its interval is
	// a 95 % bootstrap interval over the pairs of runs of each family.
	Difference analysis.Interval
	// P is the p-value of the sign-flip test over all pairs.
	P float64
	// SD is the standard deviation of a seed's mean difference over F families, from those s of the families:
	//
	//	SD² = Σ s²/F²
	//
	// It is NaN if a family has one seed alone.
	SD float64
	// Of has the differences by family, with Holm's correction.
	Of []Difference
}

// Winner returns the name of the better search, or "" if the interval does not decide.
func (d Duel) Winner() string {
	switch {
	case d.Difference.Low > 0:
		return d.A
	case d.Difference.High < 0:
		return d.B
	}
	return ""
}

// SeedsFor returns how many seeds for each family find a difference of a given size with a power of 80 %, so that a 95 %
// interval leaves out 0: that of [analysis.RunsToDecide] with d.SD. It fails if the difference is 0, if d.SD is not known,
// or if it takes too many.
func (d Duel) SeedsFor(difference float64) (int, error) {
	if math.IsNaN(d.SD) {
		return 0, errors.New("compare: one seed does not tell how many decide: need at least 2")
	}
	return analysis.RunsToDecide(d.SD, difference, 0.95, 0.8)
}

// Duel compares search a with search b over all families of the table, on the same seeds. It fails if the table has not
// both.
func (t *Table) Duel(a, b string) (Duel, error) {
	d := Duel{A: a, B: b}
	var err error
	if d.Of, err = t.Against(a, b); err != nil {
		return d, err
	}
	x, y := t.Scores(a), t.Scores(b)
	c, err := analysis.Bootstrap{}.Paired(x, y)
	if err != nil {
		return d, fmt.Errorf("compare: %s against %s: %w", a, b, err)
	}
	d.Difference, d.Runs = c.Difference, c.Runs
	if d.P, err = analysis.SignFlip(x, y, flips, 0); err != nil {
		return d, fmt.Errorf("compare: %s against %s: %w", a, b, err)
	}
	d.SD = pairedSD(x, y)
	return d, nil
}

// pairedSD returns the standard deviation of a seed's mean difference over strata. It is NaN if a stratum has one pair.
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
