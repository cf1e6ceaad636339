package analysis

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// exact returns searches whose mean gaps are a surface's at every T that is a power of two, without noise.
func exact(s Surface, most int, breadths []int, seeds int) []Curve {
	var runs []Curve
	for _, n := range breadths {
		for seed := range seeds {
			r := Curve{Task: "t", Model: "m", Method: "greedy", T: most / n, N: n, Seed: int64(seed)}
			for t := range r.T + 1 {
				r.Best = append(r.Best, 1-math.Exp(s.At(float64(max(t, 1)), float64(n))))
			}
			runs = append(runs, r)
		}
	}
	return runs
}

var wanted = Surface{B0: -0.1, A: -0.3, B: -0.2, C: -0.04}

var powers = []int{1, 2, 4, 8, 16, 32, 64}

func gridOf(t *testing.T, runs []Curve, c GridConfig) *Grid {
	t.Helper()
	g, err := NewGrid(runs, c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestSurfaceOfExactCells(t *testing.T) {
	g := gridOf(t, exact(wanted, 64, powers, 3), GridConfig{})
	s, err := g.Surface()
	if err != nil {
		t.Fatal(err)
	}
	nearAll(t, "coefficient", s.Fit.Coef, []float64{-0.1, -0.3, -0.2, -0.04})
	in, err := g.Intervals(Bootstrap{Samples: 20}, BySearch, 64)
	if err != nil {
		t.Fatal(err)
	}
	best := wanted.Split(64, 0.1)
	nearEnds(t, "c", in.C, -0.04, [2]float64{-0.04, -0.04})
	nearEnds(t, "T", in.Splits[0].T, best.T, [2]float64{best.T, best.T})
	if !best.Interior || in.Splits[0].Interior != 1 {
		t.Errorf("interior: %v, in %v of the samples", best.Interior, in.Splits[0].Interior)
	}
	rivals, err := g.Rivals()
	if err != nil {
		t.Fatal(err)
	}
	if r := rivals[2]; r.HeldOut > 1e-9 || rivals[1].HeldOut < 1e-3 || rivals[0].HeldOut < rivals[1].HeldOut ||
		r.Fit.AIC > rivals[1].Fit.AIC {
		t.Errorf("an exact surface does not win: %+v", rivals)
	}
	held, err := g.HeldOut()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range held {
		near(t, "predicted depth", h.Predicted, wanted.Split(float64(h.Calls), 0.1).T)
		if h.Nearest.T != h.Best.T || h.Loss != 0 {
			t.Errorf("budget %d: %+v", h.Calls, h)
		}
	}
	if len(held) != 6 { // 64 cells in budgets 2 to 64: that of 1 has one cell
		t.Errorf("%d budgets were held out", len(held))
	}
}

// The pitfalls of files, each with what is to be done about it.
func TestGridRefuses(t *testing.T) {
	good, nan := exact(wanted, 64, powers, 3), math.NaN()
	change := func(f func(r []Curve) []Curve) []Curve { return f(slices.Clone(good)) }
	first := func(f func(r *Curve)) []Curve {
		return change(func(r []Curve) []Curve { f(&r[0]); return r })
	}
	for _, c := range []struct {
		reason string
		runs   []Curve
		config GridConfig
		want   string
	}{
		{"no runs", nil, GridConfig{}, "no runs"},
		{"files of different tasks", first(func(r *Curve) { r.Task, r.From = "other", "a.json" }), GridConfig{},
			"different tasks, models or methods"},
		{"files of different models", first(func(r *Curve) { r.Model = "other" }), GridConfig{},
			"different tasks, models or methods"},
		{"files of which one takes ties", first(func(r *Curve) { r.Ties = "taken" }), GridConfig{}, "take ties otherwise"},
		{"one seed in two files", append(slices.Clone(good), good[0]), GridConfig{}, "are one seed"},
		{"a run that stopped early", first(func(r *Curve) { r.Best, r.Stop = r.Best[:20], "canceled" }), GridConfig{},
			"stopped early, with 19 of 64 generations (canceled)"},
		{"a last generation cut short", first(func(r *Curve) {
			r.Partial = true
			r.Answered = slices.Repeat([]int{0}, len(r.Best))
		}), GridConfig{}, "stopped early"},
		{"a score that is not a number", first(func(r *Curve) { r.Best = slices.Clone(r.Best); r.Best[3] = math.NaN() }),
			GridConfig{}, "NaN after 3 generations"},
		{"a best score that falls", first(func(r *Curve) { r.Best = slices.Clone(r.Best); r.Best[3] = -9 }), GridConfig{},
			"-9 after 3 generations"},
		{"no plan", first(func(r *Curve) { r.N = 0 }), GridConfig{}, "need T and N of at least 1"},
		{"calls below 0", first(func(r *Curve) { r.Answered = slices.Repeat([]int{-1}, len(r.Best)) }), GridConfig{},
			"-1 answered calls in generation 0"},
		{"no scores", first(func(r *Curve) { r.Best = nil }), GridConfig{}, "no score to start from"},
		{"calls of other generations", first(func(r *Curve) { r.Answered = []int{1} }), GridConfig{}, "answered calls of 1"},
		{"no call answered", change(func(runs []Curve) []Curve {
			for i := range runs {
				runs[i].Answered = make([]int, len(runs[i].Best))
			}
			return runs
		}), GridConfig{}, "no answered call"},
		{"limits that leave nothing", good, GridConfig{MinCalls: 65}, "no cell is left"},
		{"a floor below 0", good, GridConfig{Epsilon: -1}, "Epsilon is -1"},
		{"a ceiling that is no number", good, GridConfig{Ceiling: &nan}, "Ceiling is NaN"},
	} {
		if _, err := NewGrid(c.runs, c.config); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "analysis: ") {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
}

func TestSurfaceRefuses(t *testing.T) {
	for _, c := range []struct {
		reason string
		runs   []Curve
		config GridConfig
		want   string
	}{
		{"one breadth only", exact(wanted, 64, []int{4}, 3), GridConfig{}, "all cells have the breadth 4"},
		{"a single budget", exact(wanted, 64, powers, 3), GridConfig{MinCalls: 64}, "all cells have the budget 64"},
		{"one depth only", exact(wanted, 64, powers, 3), GridConfig{Depths: []int{1}},
			"do not tell depth, breadth and their product apart"},
		{"three cells", exact(wanted, 4, []int{1, 2}, 3), GridConfig{Depths: []int{1, 4}},
			"3 observations for 4 coefficients"},
	} {
		g := gridOf(t, c.runs, c.config)
		_, err := g.Surface()
		_, interval := g.Intervals(Bootstrap{}, BySearch)
		_, rivals := g.Rivals()
		_, held := g.HeldOut()
		for _, err := range []error{err, interval, rivals, held} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.reason, err, c.want)
			}
		}
	}
	two := gridOf(t, exact(wanted, 64, powers, 3), GridConfig{MinCalls: 32})
	if _, err := two.Surface(); err != nil {
		t.Errorf("two budgets: %v", err)
	}
	if _, err := two.Rivals(); err == nil || !strings.Contains(err.Error(), "without the budget") {
		t.Errorf("a budget left out of two: %v", err)
	}
}

func TestIntervalsRefuse(t *testing.T) {
	two, four := exact(wanted, 64, powers, 2), exact(wanted, 64, powers, 4)
	uneven := slices.Clone(exact(wanted, 64, powers, 6))
	uneven[0].Seed = 99
	for _, c := range []struct {
		reason  string
		runs    []Curve
		by      Resampling
		budgets []float64
		want    string
	}{
		{"fewer than 3 seeds", two, BySearch, nil, "breadth 1 has 2 seeds"},
		{"fewer than 5 units", four, BySeed, nil, "breadth 1 has 4 seeds: an interval takes at least 5"},
		{"other seeds", uneven, BySeed, nil, "different seeds"},
		{"no such way", four, 7, nil, "Resampling 7"},
		{"no such budget", four, BySearch, []float64{0.5}, "a budget of 0.5 calls"},
	} {
		_, err := gridOf(t, c.runs, GridConfig{}).Intervals(Bootstrap{}, c.by, c.budgets...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
}

// Early runs that are asked for count as far as they go, and deeper cells that not all searches reach are left out.
func TestEarlyRunsAskedFor(t *testing.T) {
	runs := exact(wanted, 64, powers, 3)
	runs[0].Best, runs[0].Stop = runs[0].Best[:20], "canceled" // N = 1
	g := gridOf(t, runs, GridConfig{Early: true})
	var short []int
	for _, c := range g.Short {
		if c.N != 1 || c.Searches != 2 {
			t.Errorf("short: %+v", c)
		}
		short = append(short, c.T)
	}
	if !slices.Equal(short, []int{32, 64}) {
		t.Errorf("short are the depths %v, want 32 and 64", short)
	}
	if c := g.Cells[4]; c.T != 16 || c.Searches != 3 {
		t.Errorf("the deepest cell that all reached: %+v", c)
	}
	runs[0].Best, runs[0].Partial = runs[0].Best[:17], true
	if g := gridOf(t, runs, GridConfig{Early: true}); len(g.Short) != 3 {
		t.Errorf("a generation cut short counts: %+v", g.Short)
	}
}

// Children without an answer are no calls: with every second one lost a breadth of N is one of N/2.
func TestCellsCountAnswers(t *testing.T) {
	half := wanted
	runs := exact(half, 64, []int{2, 4, 8, 16}, 3)
	for i := range runs {
		r := &runs[i]
		r.Answered = slices.Repeat([]int{r.N / 2}, len(r.Best))
		r.Answered[0] = 0
		for t := range r.Best {
			r.Best[t] = 1 - math.Exp(half.At(float64(max(t, 1)), float64(r.N)/2))
		}
	}
	g := gridOf(t, runs, GridConfig{})
	if c := g.Cells[1]; c.T != 2 || c.N != 2 || c.Answered != 2 || c.breadth() != 1 || c.Calls() != 4 {
		t.Errorf("%+v", c)
	}
	s, err := g.Surface()
	if err != nil {
		t.Fatal(err)
	}
	nearAll(t, "coefficient", s.Fit.Coef, []float64{-0.1, -0.3, -0.2, -0.04})
	if runs[0].Early() {
		t.Error("a run with all its generations is early")
	}
	// A run that spent its calls in fewer generations is over, too.
	spent := Curve{T: 4, N: 2, Best: []float64{0, 1}, Answered: []int{0, 8}}
	if spent.Early() {
		t.Error("a run whose calls are spent is early")
	}
}

func TestScoresAboveTheCeiling(t *testing.T) {
	runs := exact(wanted, 64, powers, 3)
	for i := range 3 { // N = 1
		runs[i].Best[64] = 1.5
	}
	runs[3].Best[32] = 1.01 // N = 2
	g := gridOf(t, runs, GridConfig{})
	if c := g.Cells[6]; !c.Floored || c.Above != 3 || c.Gap != math.Log(1e-4) || g.floored() != 1 {
		t.Errorf("floored: %+v, %d in all", c, g.floored())
	}
	if c := g.Cells[12]; c.Floored || c.Above != 1 {
		t.Errorf("one search above: %+v", c)
	}
	s, err := g.Surface()
	if err != nil || s.Floored != 1 {
		t.Errorf("the surface counts %d floored cells, %v", s.Floored, err)
	}
	two := 2.0
	if g := gridOf(t, runs, GridConfig{Ceiling: &two}); g.floored() != 0 || g.Cells[6].Above != 0 {
		t.Errorf("with a higher ceiling: %+v", g.Cells[6])
	}
}

// The paper has a run for each depth: a cell is of the run made for it.
func TestRunsOfSeveralDepths(t *testing.T) {
	var runs []Curve
	for seed := range int64(3) {
		runs = append(runs,
			Curve{T: 4, N: 1, Seed: seed, Best: []float64{0, .5, .5, .5, .5}},
			Curve{T: 2, N: 1, Seed: seed, Best: []float64{0, .1, .2}})
	}
	g := gridOf(t, runs, GridConfig{})
	var means []float64
	for _, c := range g.Cells {
		means = append(means, c.Mean)
	}
	nearAll(t, "mean", means, []float64{.1, .2, .5})
	if b := g.Budgets(); !slices.Equal(b, []int{1, 2, 4}) {
		t.Errorf("budgets %v", b)
	}
}

func TestOLSRefuses(t *testing.T) {
	for _, c := range []struct {
		reason string
		x      [][]float64
		y      []float64
		want   string
	}{
		{"nothing", nil, nil, "without observations"},
		{"too few", [][]float64{{1}, {2}}, []float64{1, 2}, "2 observations for 2 coefficients"},
		{"rows of unlike length", [][]float64{{1}, {2, 3}, {4}}, []float64{1, 2, 3}, "row 1 of a regression has 2 columns"},
		{"a column that is constant", [][]float64{{1}, {1}, {1}}, []float64{1, 2, 3}, "rank 1"},
		{"a column without a number", [][]float64{{1}, {math.Inf(1)}, {1}}, []float64{1, 2, 3}, "is +Inf"},
		{"fewer values", [][]float64{{1}, {2}, {3}}, []float64{1, 2}, "3 rows on 2 values"},
		{"a value without a number", [][]float64{{1}, {2}, {3}}, []float64{1, 2, math.NaN()}, "value 2 is NaN"},
	} {
		if _, err := ols(c.x, c.y); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
}

// Exact values give an exact fit, and an AIC that JSON has.
func TestOLSOfALine(t *testing.T) {
	f, err := ols([][]float64{{0}, {1}, {2}}, []float64{0, 0, 0})
	if err != nil || f.R2 != 1 || f.AIC != -math.MaxFloat64 || f.RSS != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = ols([][]float64{{0}, {1}, {2}, {3}}, []float64{1, 3, 5, 8})
	if err != nil {
		t.Fatal(err)
	}
	// Slope 2.3, intercept 0.8; residuals 0.2, −0.1, −0.4, 0.3.
	nearAll(t, "coefficient", f.Coef, []float64{0.8, 2.3})
	near(t, "RSS", f.RSS, 0.3)
	near(t, "AIC", f.AIC, 4*math.Log(0.3/4)+6)
	near(t, "at 4", f.at(4), 10)
}
