package analysis

import (
	"fmt"
	"math"
)

// A Rival is one of the models that a [Surface] must beat before its product term is meaningful.
type Rival struct {
	Name string `json:"name"` // "budget", "depth and breadth", or "depth, breadth and their product"
	Fit  Fit    `json:"fit"`
	// HeldOut is the root mean square error of the log gap in cells of unseen budgets: each budget is left out in turn.
	// Less is better.
	HeldOut float64 `json:"held_out_rmse"`
}

// Rivals fits three models to the same cells, from the simplest: y on ln C alone, on ln T and ln N, and the
// [Surface]. R² always prefers the last, as it has the most terms. Adjusted R², AIC and the error on budgets left out
// do not. Leaving budgets out is the strictest of them, as cells of one search are not independent and AIC takes them
// to be. Rivals returns an error if the surface cannot be fitted, or not without one of the budgets.
func (g *Grid) Rivals() ([]Rival, error) {
	if _, err := g.bilinear(); err != nil {
		return nil, err
	}
	var rivals []Rival
	for _, m := range []struct {
		name string
		of   terms
	}{{"budget", budgetTerms}, {"depth and breadth", additiveTerms}, {"depth, breadth and their product", bilinearTerms}} {
		f, err := ols(columns(g.Cells, m.of), g.gaps())
		if err != nil {
			return nil, err
		}
		r := Rival{Name: m.name, Fit: f}
		if r.HeldOut, err = g.heldOutError(m.of); err != nil {
			return nil, err
		}
		rivals = append(rivals, r)
	}
	return rivals, nil
}

// heldOutError returns the root mean square error of a model over budgets left out.
func (g *Grid) heldOutError(of terms) (float64, error) {
	sum := 0.0
	for _, calls := range g.Budgets() {
		f, out, err := g.leaveOut(calls, of)
		if err != nil {
			return 0, err
		}
		for i, x := range columns(out, of) {
			sum += math.Pow(out[i].Gap-f.at(x...), 2)
		}
	}
	return math.Sqrt(sum / float64(len(g.Cells))), nil
}

// leaveOut fits a model to the cells of all budgets but one, and returns the cells of that one.
func (g *Grid) leaveOut(calls int, of terms) (Fit, []Cell, error) {
	var in, out []Cell
	var y []float64
	for _, c := range g.Cells {
		if c.Calls() == calls {
			out = append(out, c)
			continue
		}
		in, y = append(in, c), append(y, c.Gap)
	}
	f, err := ols(columns(in, of), y)
	if err != nil {
		return f, nil, fmt.Errorf("%w: without the budget %d too little is left to fit", err, calls)
	}
	return f, out, nil
}
