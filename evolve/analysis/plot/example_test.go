package plot_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// show prints what of a figure can be printed: how it begins.
func show(f *plot.Figure, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.String()[:21], bytes.Contains(b.Bytes(), []byte("n = 8")))
}

func ExampleCurves() {
	greedy := plot.Line{Name: "greedy", Runs: 8, X: []float64{1, 16, 32}, Y: []float64{0.5, 0.8, 0.9},
		Low: []float64{0.5, 0.7, 0.85}, High: []float64{0.5, 0.85, 0.93}}
	show(plot.Curves{
		Title: "Circle packing", X: "model calls", Scale: plot.Log2,
		Interval: "Mean; 95 % bootstrap interval over searches",
		Panels:   []plot.Panel{{Lines: []plot.Line{greedy}}},
	}.Draw())
	show(plot.Curves{X: "model calls", Panels: []plot.Panel{{Lines: []plot.Line{greedy}}}}.Draw())
	// Output:
	// <?xml version="1.0"?> true
	// plot: curves: line "greedy" has an interval, and Interval does not say which
}

func ExampleSurface() {
	show(plot.Surface{
		Title: "Circle packing",
		Cells: []analysis.Cell{{T: 1, N: 4, Mean: 0.7, Searches: 8}, {T: 2, N: 2, Mean: 0.8, Searches: 8},
			{T: 4, N: 1, Mean: 0.75, Searches: 8}},
		Optima:   []plot.Optimum{{Budget: 4, N: 1.9, Low: 1.2, High: 3.1}},
		Interval: "95 % bootstrap interval over searches",
	}.Draw())
	// Output: <?xml version="1.0"?> true
}
func ExampleEnvelope() {
	show(plot.Envelope{
		Interval: "Bars: 95 % bootstrap interval over searches",
		Lines: []plot.EnvelopeLine{{Name: "greedy", Runs: 8, Points: []plot.EnvelopePoint{
			{Budget: 64, N: 8, Best: 0.82, Low: 0.78, High: 0.85, Fair: 0.80},
			{Budget: 128, N: 16, Best: 0.88, Low: 0.84, High: 0.9, Fair: 0.87},
		}}},
	}.Draw())
	// Output: <?xml version="1.0"?> true
}

func ExampleProfiles() {
	show(plot.Profiles{Panels: []plot.Panel{{Lines: []plot.Line{{Name: "greedy", Runs: 8, X: []float64{0.5, 0.6, 0.7},
		Y: []float64{1, 0.5, 0}}}}}}.Draw())
	// Output: <?xml version="1.0"?> true
}

func ExamplePulls() {
	show(plot.Pulls{Arms: []string{"the best", "the other"}, Runs: [][]int{{0, 1, 0}, {1, 0, 0}}}.Draw())
	// Output: <?xml version="1.0"?> false
}

func ExampleRegret() {
	show(plot.Regret{Panels: []plot.Panel{{Lines: []plot.Line{{Name: "ucb", Runs: 8, X: []float64{1, 2, 3},
		Y: []float64{0.3, 0.1, 0}}}}}}.Draw())
	// Output: <?xml version="1.0"?> true
}

func ExampleFigure() {
	f, err := plot.Regret{Panels: []plot.Panel{{Lines: []plot.Line{{Name: "ucb", Runs: 8, X: []float64{1, 2},
		Y: []float64{0.3, 0.1}}}}}}.Draw()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Save("regret.pdf"))
	// Output: plot: regret.pdf ends in ".pdf", want .svg or .png
}

func ExampleScale() {
	fmt.Println(plot.Log2, plot.Log10, plot.Linear)
	none := plot.Line{Name: "greedy", Runs: 1, X: []float64{0, 1}, Y: []float64{0.1, 0.2}}
	_, err := plot.Curves{X: "model calls", Scale: plot.Log2, Panels: []plot.Panel{{Lines: []plot.Line{none}}}}.Draw()
	fmt.Println(err)
	// Output:
	// log2 log10 linear
	// plot: curves: line "greedy" has X = 0 at point 0, which a log2 axis cannot show
}
