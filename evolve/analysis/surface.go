package analysis

import (
	"fmt"
	"math"
)

// A Surface is the bilinear fit of the gap to the ceiling over depth and breadth,
//
//	ln(max(ceiling − V̄, ε)) = B0 + A·ln T + B·ln N + C·ln T·ln N
//
// on the mean scores V̄ of cells, by least squares (the model of the BaSE paper, arXiv:2605.29268). C < 0: depth and
// breadth complement each other, and the best split of a large budget is between the extremes. C ≥ 0: it is at one of
// them.
type Surface struct {
	B0, A, B, C float64
	Fit         Fit // with Coef B0, A, B, C
	Floored     int // cells whose gap is the floor ln ε; they flatten the surface
}

// Surface fits the surface to the grid's cells. If calls failed, N is the mean number of answered calls of a
// generation. It returns an error if the cells have one budget only, one breadth or one depth only, or too few of them
// to tell the four terms apart.
func (g *Grid) Surface() (Surface, error) {
	d, err := g.bilinear()
	if err != nil {
		return Surface{}, err
	}
	return g.surface(d.fit(g.gaps())), nil
}

func (g *Grid) surface(f Fit) Surface {
	return Surface{B0: f.Coef[0], A: f.Coef[1], B: f.Coef[2], C: f.Coef[3], Fit: f, Floored: g.floored()}
}

// bilinear returns the design of the surface.
func (g *Grid) bilinear() (*design, error) {
	if budgets := g.Budgets(); len(budgets) == 1 {
		return nil, fmt.Errorf("analysis: all cells have the budget %d: the surface takes at least two, better five",
			budgets[0])
	}
	if len(g.breadths) == 1 {
		return nil, fmt.Errorf("analysis: all cells have the breadth %d: the surface takes several", g.breadths[0].n)
	}
	d, err := newDesign(columns(g.Cells, bilinearTerms))
	if err != nil {
		return nil, fmt.Errorf("%w: the %d cells do not tell depth, breadth and their product apart", err, len(g.Cells))
	}
	return d, nil
}

// terms returns the columns of a regression at a depth and a breadth.
type terms func(lnT, lnN float64) []float64

func bilinearTerms(lnT, lnN float64) []float64 { return []float64{lnT, lnN, lnT * lnN} }
func additiveTerms(lnT, lnN float64) []float64 { return []float64{lnT, lnN} }
func budgetTerms(lnT, lnN float64) []float64   { return []float64{lnT + lnN} }

func columns(cells []Cell, of terms) [][]float64 {
	x := make([][]float64, len(cells))
	for i, c := range cells {
		x[i] = of(math.Log(float64(c.T)), math.Log(c.breadth()))
	}
	return x
}

// At returns the fitted logarithm of the gap at a depth and a breadth, which need not be whole.
func (s Surface) At(t, n float64) float64 {
	x, y := math.Log(t), math.Log(n)
	return s.B0 + s.A*x + s.B*y + s.C*x*y
}
