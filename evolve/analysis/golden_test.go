package analysis

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/internal/bootstrap"
)

// golden decodes a part of testdata/stats.json.gz: inputs, resample indices and results that an independent
// implementation (NumPy and SciPy) computed.
func golden[T any](t *testing.T, part string) (v T) {
	t.Helper()
	f, err := os.Open("testdata/stats.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]json.RawMessage{}
	if err := json.NewDecoder(z).Decode(&parts); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(parts[part], &v); err != nil {
		t.Fatalf("%s: %v", part, err)
	}
	return v
}

// tolerance is that of the golden values.
const tolerance = 1e-9

// near fails unless got is want to a relative 1e-9, absolute below 1.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

// nearEnds fails unless i has the value and the ends.
func nearEnds(t *testing.T, what string, i Interval, value float64, ends [2]float64) {
	t.Helper()
	near(t, what, i.Value, value)
	near(t, what+", low", i.Low, ends[0])
	near(t, what+", high", i.High, ends[1])
}

// byTask turns scores[run][task] into scores[task][run].
func byTask[T any](rows [][]T) [][]T {
	columns := make([][]T, len(rows[0]))
	for _, row := range rows {
		for task, v := range row {
			columns[task] = append(columns[task], v)
		}
	}
	return columns
}

func TestGoldenQuantile(t *testing.T) {
	type sample struct{ X, Q, Want []float64 }
	for name, c := range golden[map[string]sample](t, "quantile_type7") {
		sorted := slices.Sorted(slices.Values(c.X))
		for i, q := range c.Q {
			near(t, name, bootstrap.Quantile(sorted, q), c.Want[i])
		}
	}
}

func TestGoldenIQM(t *testing.T) {
	type sample struct {
		X    []float64
		Want float64
	}
	for name, c := range golden[map[string]sample](t, "iqm") {
		near(t, name, IQM(Scores{c.X}), c.Want)
	}
}

// rliable is the golden values of stratified comparisons.
type rliable struct {
	X, Y     [][]float64
	IndicesX [][][]int             `json:"indices_x"`
	IndicesY [][][]int             `json:"indices_y"`
	Point    map[string]float64    `json:"point"`
	CI       map[string][2]float64 `json:"ci95"`
	SE       map[string]float64    `json:"bootstrap_se"`
	IQMs     []float64             `json:"iqm_replicates"`
	Profile  struct {
		Tau     []float64
		Runs    []float64 `json:"run_score_distribution_strictly_above"`
		Average []float64 `json:"average_score_distribution"`
		Low     []float64 `json:"ci95_low"`
		High    []float64 `json:"ci95_high"`
	}
	Improvement struct {
		Point   float64
		CI      [2]float64 `json:"ci95"`
		PerTask []float64  `json:"per_task"`
		Same    float64
	} `json:"probability_of_improvement_x_over_y"`
}

// draws returns the samples of scores[run][task] by stratum.
func draws(indices [][][]int) [][][]int {
	all := make([][][]int, len(indices))
	for i, rows := range indices {
		all[i] = byTask(rows)
	}
	return all
}

func TestGoldenStatistics(t *testing.T) {
	g := golden[rliable](t, "rliable")
	x, y := Scores(byTask(g.X)), Scores(byTask(g.Y))
	for _, c := range []struct {
		name string
		of   Scores
		stat statistic
		draw [][][]int
	}{
		{"iqm", x, IQM, g.IndicesX},
		{"mean", x, Mean, g.IndicesX},
		{"iqm_y", y, IQM, g.IndicesY},
	} {
		got, err := Bootstrap{draws: draws(c.draw)}.Estimate(c.of, c.stat)
		if err != nil {
			t.Fatal(err)
		}
		nearEnds(t, c.name, got, g.Point[c.name], g.CI[c.name])
	}
}

func TestGoldenReplicates(t *testing.T) {
	g := golden[rliable](t, "rliable")
	b := Bootstrap{draws: draws(g.IndicesX)}
	got := replicates(t, b, byTask(g.X), IQM)
	for i, want := range g.IQMs {
		near(t, "a sample's IQM", got[i], want)
	}
	mean, sum := Mean(Scores{got}), 0.0
	for _, v := range got {
		sum += (v - mean) * (v - mean)
	}
	near(t, "the IQM's bootstrap standard error", math.Sqrt(sum/float64(len(got)-1)), g.SE["iqm"])
}

func TestGoldenProfile(t *testing.T) {
	g := golden[rliable](t, "rliable")
	x, p := Scores(byTask(g.X)), g.Profile
	got, err := Bootstrap{draws: draws(g.IndicesX)}.Profile(x, p.Tau)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Tau {
		nearEnds(t, "share of runs above", got[i], p.Runs[i], [2]float64{p.Low[i], p.High[i]})
	}
}

func TestGoldenImprovement(t *testing.T) {
	g := golden[rliable](t, "rliable")
	x, y := Scores(byTask(g.X)), Scores(byTask(g.Y))
	both := draws(g.IndicesX)
	for i, d := range draws(g.IndicesY) {
		both[i] = append(both[i], d...)
	}
	got, err := Bootstrap{draws: both}.Unpaired(x, y)
	if err != nil {
		t.Fatal(err)
	}
	nearEnds(t, "probability of improvement", got.Improvement, g.Improvement.Point, g.Improvement.CI)
	near(t, "over itself", improvement(x, x), g.Improvement.Same)
	for task, want := range g.Improvement.PerTask {
		near(t, "in one task", improvement(x[task:task+1], y[task:task+1]), want)
	}
}

// effect is the golden comparison of two methods in one stratum.
type effect struct {
	Mean        float64    `json:"mean_difference"`
	Paired      [2]float64 `json:"paired_ci95"`
	Independent [2]float64 `json:"independent_ci95"`
	IQM         float64    `json:"iqm_difference"`
	Improvement float64    `json:"poi"`
}

func TestGoldenEffects(t *testing.T) {
	g := golden[struct {
		Greedy, Random, Base []float64
		Indices, Indices2    [][]int
		Pool                 effect `json:"pool_random_minus_greedy"`
		Allocation           effect `json:"allocation_base_minus_random"`
	}](t, "effects")
	var paired, apart [][][]int
	for i := range g.Indices {
		paired = append(paired, [][]int{g.Indices[i]})
		apart = append(apart, [][]int{g.Indices2[i], g.Indices[i]}) // its first is what is subtracted
	}
	for _, c := range []struct {
		name string
		x, y []float64
		want effect
	}{
		{"pool", g.Random, g.Greedy, g.Pool},
		{"allocation", g.Base, g.Random, g.Allocation},
	} {
		x, y := Scores{c.x}, Scores{c.y}
		pairs, err := Bootstrap{draws: paired}.Paired(x, y)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name+" paired", pairs.Difference.Value, c.want.Mean)
		plain, err := Bootstrap{draws: paired}.Estimate(x.minus(y), Mean)
		if err != nil {
			t.Fatal(err)
		}
		nearEnds(t, c.name+" paired, percentiles", plain, c.want.Mean, c.want.Paired)
		near(t, c.name+" IQM", pairs.IQM.Value, c.want.IQM)
		near(t, c.name+" improvement", pairs.Improvement.Value, c.want.Improvement)
		free, err := Bootstrap{draws: apart}.Unpaired(x, y)
		if err != nil {
			t.Fatal(err)
		}
		nearEnds(t, c.name+" unpaired", free.Difference, c.want.Mean, c.want.Independent)
	}
}
