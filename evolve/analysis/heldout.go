package analysis

import "math"

// A HeldOut compares the best split of a budget by a [Surface] fitted without it with the observed best.
type HeldOut struct {
	Calls     int     `json:"C"`
	Predicted float64 `json:"predicted_T"` // the best depth by the surface of the other budgets
	Nearest   Cell    `json:"nearest"`     // the budget's cell nearest to it in ln T, with a tie the shallower
	Best      Cell    `json:"best"`        // the budget's cell with the best mean, with a tie the shallower
	// Loss is Best.Mean − Nearest.Mean. Best is a maximum over noisy means, so Loss is biased upwards.
	Loss float64 `json:"loss"`
}

// HeldOut leaves out each budget in turn, and compares the split predicted by the others with the observed best. It
// skips budgets with a single cell. It returns an error if the surface cannot be fitted without one of the budgets.
func (g *Grid) HeldOut() ([]HeldOut, error) {
	if _, err := g.bilinear(); err != nil {
		return nil, err
	}
	var all []HeldOut
	for _, calls := range g.Budgets() {
		f, out, err := g.leaveOut(calls, bilinearTerms)
		if err != nil {
			return nil, err
		}
		if len(out) < 2 {
			continue
		}
		l := math.Log(float64(calls))
		x, _ := g.surface(f).best(l)
		h := HeldOut{Calls: calls, Predicted: math.Exp(x)}
		h.Nearest = least(out, func(c Cell) float64 { return math.Abs(math.Log(float64(c.T)) - x) })
		h.Best = least(out, func(c Cell) float64 { return -c.Mean })
		h.Loss = h.Best.Mean - h.Nearest.Mean
		all = append(all, h)
	}
	return all, nil
}

// least returns the cell with the least value, of equals the shallowest. There is at least one cell.
func least(cells []Cell, value func(Cell) float64) Cell {
	best := cells[0]
	for _, c := range cells[1:] {
		if v, b := value(c), value(best); v < b || v == b && c.T < best.T {
			best = c
		}
	}
	return best
}
