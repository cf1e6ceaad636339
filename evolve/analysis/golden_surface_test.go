package analysis

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

// goldenSplit is the best split of a budget.
type goldenSplit struct {
	C         float64
	Kind      string
	T, N, G   float64
	LnT       float64    `json:"ln_T"`
	HalfWidth float64    `json:"half_width_octaves"`
	Plateau   [2]float64 `json:"plateau_T"`
}

// goldenFit is a regression.
type goldenFit struct {
	Coef, SE []float64
	R2       float64
	AdjR2    *float64 `json:"adj_r2"`
	SD       *float64 `json:"residual_sd"`
}

// bilinear is the golden values of the surface.
type bilinear struct {
	Eps          float64
	Seeds        []int64
	N            []int
	Min          int `json:"C_min"`
	Max          int `json:"C_max"`
	Trajectories map[string][][]float64
	Cells        []struct {
		T, N int
		V, Y float64
	}
	Coef struct {
		Value, SE, T []float64
		P            []float64 `json:"p_two_sided"`
		Cov          [][]float64
	}
	R2         float64
	AdjR2      float64   `json:"adj_r2"`
	SD         float64   `json:"residual_sd"`
	DoF        int       `json:"dof"`
	BudgetOnly goldenFit `json:"budget_only"`
	Additive   goldenFit
	Optimum    []goldenSplit
	Bootstrap  struct {
		Indices map[string][][]int
		First3  [][]float64           `json:"first3"`
		CI      map[string][2]float64 `json:"ci95"`
	}
}

// goldenRuns returns the golden searches as runs, and their grid.
func goldenRuns(t *testing.T) (bilinear, []Curve, *Grid) {
	t.Helper()
	g := golden[bilinear](t, "bilinear")
	var runs []Curve
	for _, n := range g.N {
		for i, best := range g.Trajectories[strconv.Itoa(n)] {
			runs = append(runs, Curve{Task: "golden", T: len(best) - 1, N: n, Seed: g.Seeds[i], Best: best})
		}
	}
	grid, err := NewGrid(runs, GridConfig{MinCalls: g.Min, MaxCalls: g.Max, Epsilon: g.Eps})
	if err != nil {
		t.Fatal(err)
	}
	return g, runs, grid
}

// nearAll fails unless got is want.
func nearAll(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		near(t, fmt.Sprintf("%s %d", what, i), got[i], want[i])
	}
}

func TestGoldenCells(t *testing.T) {
	g, _, grid := goldenRuns(t)
	if len(grid.Cells) != len(g.Cells) || len(grid.Short) > 0 {
		t.Fatalf("%d cells, %d short, want %d", len(grid.Cells), len(grid.Short), len(g.Cells))
	}
	for i, want := range g.Cells {
		c := grid.Cells[i]
		if c.T != want.T || c.N != want.N || c.Searches != len(g.Seeds) {
			t.Errorf("cell %d is %+v, want %+v", i, c, want)
		}
		near(t, "mean", c.Mean, want.V)
		near(t, "gap", c.Gap, want.Y)
	}
}

func TestGoldenSurface(t *testing.T) {
	g, _, grid := goldenRuns(t)
	s, err := grid.Surface()
	if err != nil {
		t.Fatal(err)
	}
	nearAll(t, "coefficient", []float64{s.B0, s.A, s.B, s.C}, g.Coef.Value)
	nearAll(t, "standard error", s.Fit.SE, g.Coef.SE)
	for i := range g.Coef.T {
		near(t, "t", s.Fit.Coef[i]/s.Fit.SE[i], g.Coef.T[i])
	}
	near(t, "R²", s.Fit.R2, g.R2)
	near(t, "adjusted R²", s.Fit.AdjR2, g.AdjR2)
	near(t, "residual sd", s.Fit.SD, g.SD)
	if s.Fit.DoF != g.DoF {
		t.Errorf("%d degrees of freedom, want %d", s.Fit.DoF, g.DoF)
	}
	for _, want := range g.Optimum {
		nearSplit(t, s, want)
	}
}

// nearSplit fails unless the best split of s is want. The golden loss is a tenth.
func nearSplit(t *testing.T, s Surface, want goldenSplit) {
	t.Helper()
	got := s.Split(want.C, 0.1)
	what := fmt.Sprintf("split of %v: ", want.C)
	near(t, what+"T", got.T, want.T)
	near(t, what+"N", got.N, want.N)
	near(t, what+"ln T", math.Log(got.T), want.LnT)
	near(t, what+"gap", got.LogGap-s.B0, want.G)
	near(t, what+"half-width", got.HalfWidth, want.HalfWidth)
	if kind := map[bool]string{true: "interior", false: "corner"}[got.Interior]; kind != want.Kind ||
		len(got.Within) != 1 {
		t.Errorf("%s%s, within %v, want %s", what, kind, got.Within, want.Kind)
	}
	nearAll(t, what+"within", got.Within[0][:], want.Plateau[:])
}

func TestGoldenSplits(t *testing.T) {
	for _, c := range golden[[]struct {
		In   struct{ A, B, C float64 }
		Want goldenSplit
	}](t, "optimum_cases") {
		nearSplit(t, Surface{A: c.In.A, B: c.In.B, C: c.In.C}, c.Want)
	}
}

// goldenDraws returns the golden samples by breadth.
func (g bilinear) goldenDraws() [][][]int {
	all := make([][][]int, len(g.Bootstrap.Indices["1"]))
	for i := range all {
		for _, n := range g.N {
			all[i] = append(all[i], g.Bootstrap.Indices[strconv.Itoa(n)][i])
		}
	}
	return all
}

func TestGoldenSurfaceIntervals(t *testing.T) {
	g, _, grid := goldenRuns(t)
	in, err := grid.Intervals(Bootstrap{draws: g.goldenDraws()}, BySearch, float64(g.Max))
	if err != nil {
		t.Fatal(err)
	}
	ci := g.Bootstrap.CI
	nearEnds(t, "b0", in.B0, g.Coef.Value[0], ci["b0"])
	nearEnds(t, "a", in.A, g.Coef.Value[1], ci["a"])
	nearEnds(t, "b", in.B, g.Coef.Value[2], ci["b"])
	nearEnds(t, "c", in.C, g.Coef.Value[3], ci["c"])
	nearEnds(t, "R²", in.R2, g.R2, ci["r2"])
	near(t, "T, low", in.Splits[0].T.Low, ci["T_opt_at_Cmax"][0])
	near(t, "T, high", in.Splits[0].T.High, ci["T_opt_at_Cmax"][1])
	// One sample alone is its own interval.
	for i, want := range g.Bootstrap.First3 {
		one, err := grid.Intervals(Bootstrap{draws: g.goldenDraws()[i : i+1]}, BySearch, float64(g.Max))
		if err != nil {
			t.Fatal(err)
		}
		got := []float64{one.B0.Low, one.A.Low, one.B.Low, one.C.Low, one.R2.Low, one.Splits[0].T.Low}
		nearAll(t, "sample", got, want)
	}
}

func TestGoldenLogGap(t *testing.T) {
	g := golden[struct {
		V, Want []float64
		Eps     float64
	}](t, "log_gap_floor")
	for i, v := range g.V {
		near(t, "gap", lnGap(v, 1, g.Eps), g.Want[i])
	}
}

func TestGoldenRivals(t *testing.T) {
	g, _, grid := goldenRuns(t)
	var x1, x2 [][]float64
	var y []float64
	for _, c := range grid.Cells {
		lnT, lnN := math.Log(float64(c.T)), math.Log(float64(c.N))
		x1, x2, y = append(x1, []float64{lnT + lnN}), append(x2, []float64{lnT, lnN}), append(y, c.Gap)
	}
	nearFit(t, "budget alone", x1, y, g.BudgetOnly)
	nearFit(t, "without the product", x2, y, g.Additive)
}

// nearFit fails unless the fit of y on x is want.
func nearFit(t *testing.T, what string, x [][]float64, y []float64, want goldenFit) {
	t.Helper()
	f, err := ols(x, y)
	if err != nil {
		t.Fatal(err)
	}
	nearAll(t, what+": coefficient", f.Coef, want.Coef)
	nearAll(t, what+": standard error", f.SE, want.SE)
	near(t, what+": R²", f.R2, want.R2)
	if want.AdjR2 != nil {
		near(t, what+": adjusted R²", f.AdjR2, *want.AdjR2)
	}
	if want.SD != nil {
		near(t, what+": residual sd", f.SD, *want.SD)
	}
}
