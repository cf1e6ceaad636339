package plot_test

import (
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

func line(change func(*plot.Line)) []plot.Panel {
	l := plot.Line{Name: "a", Runs: 3, X: []float64{1, 2}, Y: []float64{0.1, 0.2}, Low: []float64{0, 0.1},
		High: []float64{0.2, 0.3}}
	change(&l)
	return []plot.Panel{{Lines: []plot.Line{l}}}
}

// What cannot be drawn, or would be drawn without its n or its interval, is refused, and the error says where.
func TestRefused(t *testing.T) {
	cell := []analysis.Cell{{T: 1, N: 2, Mean: 0.5, Searches: 3}}
	point := []plot.EnvelopePoint{{Budget: 2, N: 1, Low: 0, High: 1}}
	for _, c := range []struct {
		why  string
		data drawer
		want string
	}{
		{"no lines", plot.Curves{}, "no lines"},
		{"no name", plot.Curves{Panels: line(func(l *plot.Line) { l.Name = "" })}, "no name"},
		{"no n", plot.Curves{Interval: "i", Panels: line(func(l *plot.Line) { l.Runs = 0 })}, "of 0 runs"},
		{"an interval of no kind", plot.Curves{Panels: line(func(*plot.Line) {})}, "does not say which"},
		{"unlike lengths", plot.Curves{Interval: "i", Panels: line(func(l *plot.Line) { l.X = l.X[:1] })}, "1 X and 2 Y"},
		{"half an interval", plot.Curves{Interval: "i", Panels: line(func(l *plot.Line) { l.Low = nil })}, "0 Low"},
		{"not a number", plot.Regret{Interval: "i", Panels: line(func(l *plot.Line) { l.Y[1] = math.NaN() })},
			"NaN at point 1"},
		{"an infinite end", plot.Regret{Interval: "i", Panels: line(func(l *plot.Line) { l.High[0] = math.Inf(1) })},
			"+Inf at point 0"},
		{"back in x", plot.Curves{Interval: "i", Panels: line(func(l *plot.Line) { l.X[1] = 0.5 })}, "0.5 after 1"},
		{"zero on a logarithmic axis", plot.Curves{Scale: plot.Log2, Interval: "i",
			Panels: line(func(l *plot.Line) { l.X[0] = 0 })}, "a log2 axis"},
		{"an interval upside down", plot.Curves{Interval: "i", Panels: line(func(l *plot.Line) { l.Low[0] = 0.9 })},
			"[0.9, 0.2]"},
		{"a share above one", plot.Profiles{Interval: "i", Panels: line(func(l *plot.Line) { l.High[1] = 1.2 })},
			"a share of 1.2"},
		{"no cells", plot.Surface{}, "no cells"},
		{"a cell of nobody", plot.Surface{Cells: []analysis.Cell{{T: 1, N: 2}}}, "over 0 runs"},
		{"an interval upside down", plot.Surface{Cells: cell, Interval: "i",
			Optima: []plot.Optimum{{Budget: 2, N: 1, Low: 2, High: 1}}}, "N=1 in [2, 1]"},
		{"an unbounded interval", plot.Surface{Cells: cell, Interval: "i",
			Optima: []plot.Optimum{{Budget: 2, N: 3, Low: 1, High: math.Inf(1)}}}, "+Inf"},
		{"optima of no kind of interval", plot.Surface{Cells: cell,
			Optima: []plot.Optimum{{Budget: 2, N: 1, Low: 1, High: 2}}}, "does not say"},
		{"an envelope of no kind of interval", plot.Envelope{Lines: []plot.EnvelopeLine{{Name: "a", Runs: 1, Points: point}}},
			"not said"},
		{"an envelope of nobody", plot.Envelope{Interval: "i", Lines: []plot.EnvelopeLine{{Name: "a", Points: point}}},
			"0 runs"},
		{"an envelope without a budget", plot.Envelope{Interval: "i",
			Lines: []plot.EnvelopeLine{{Name: "a", Runs: 1, Points: make([]plot.EnvelopePoint, 1)}}}, "C=0"},
		{"no pulls", plot.Pulls{Arms: []string{"a"}, Runs: [][]int{{}}}, "0 rounds"},
		{"an unknown arm", plot.Pulls{Arms: []string{"a"}, Runs: [][]int{{0, 1}}}, "arm 1 in round 1"},
	} {
		_, err := c.data.Draw()
		if err == nil || !strings.HasPrefix(err.Error(), "plot: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.why, err, c.want)
		}
	}
}
