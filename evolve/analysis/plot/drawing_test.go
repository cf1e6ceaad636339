package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// Names that need escaping, lines that do not move, a single point and more lines than colors make a sound picture.
func TestOddPictures(t *testing.T) {
	var many []plot.Line
	for i := range 20 {
		many = append(many, plot.Line{Name: fmt.Sprintf(`a<b&"c"%c %d`, 0x1b, i), Runs: 1, X: []float64{1, 2},
			Y: []float64{0.5, 0.5}})
	}
	many = append(many, plot.Line{Name: "a point", Runs: 1, X: []float64{1}, Y: []float64{0.5}})
	svg := svgOf(t, plot.Curves{Title: "T < 5", X: "x", Panels: []plot.Panel{{Title: "flat", Lines: many}}})
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(svg, "a<b") ||
		!strings.Contains(svg, "T &lt; 5") {
		t.Errorf("not sound:\n%s", svg)
	}
	wellFormed(t, svg)
}

// What every figure has to say stands in it: its title, n and its interval.
func TestFiguresSayTheirRunsAndIntervals(t *testing.T) {
	for name, want := range map[string][]string{
		"surface":       {"n = 4 to 6", "95 % bootstrap interval", "Circle packing", "depth T", "breadth N"},
		"surface_open":  {"n = 3", "no optimum is marked", "One budget"},
		"envelope":      {"greedy (n = 12)", "(n = 10)", "95 % bootstrap interval", "N=64"},
		"curves":        {"policy 1 (n = 20)", "policy 3 (n = 22)", "95 % bootstrap interval", "model calls"},
		"curves_panels": {"policy 9 (n = 28)", "10 to 90 %", "FLOPs", "pack"},
		"profiles":      {"ucb (n = 10)", "95 % bootstrap interval", "share of runs"},
		"pulls":         {"n = 5 runs", "12.5 %", "arm of rank 8"},
		"regret":        {"ucb (n = 50)", "95 % bootstrap interval", "round"},
	} {
		svg := svgOf(t, samples()[name])
		text := strings.Join(regexp.MustCompile(`>[^<>\n]+</text>`).FindAllString(svg, -1), " ")
		text = strings.NewReplacer("</text>", "", ">", "").Replace(text)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q:\n%s", name, w, text)
			}
		}
		if !strings.Contains(svg, "font-family:Liberation Sans,Arimo,Arial,") {
			t.Errorf("%s has no font to fall back to", name)
		}
		wellFormed(t, svg)
	}
}

// Runs that end on one plateau differ in the last digit of their scores if their programs add in different orders. No
// round number lies between two such scores. The search for tick marks must end nevertheless.
func TestScoresThatDifferByRounding(t *testing.T) {
	for name, low := range map[string]float64{"below one": 0.7, "large": 1e17} {
		high := math.Nextafter(low, math.Inf(1))
		curves := plot.Curves{X: "calls", Panels: []plot.Panel{{Lines: []plot.Line{{Name: "greedy", Runs: 1,
			X: []float64{1, 2}, Y: []float64{low, high}}}}}}
		cells := plot.Surface{Cells: []analysis.Cell{{T: 1, N: 1, Searches: 1, Mean: low},
			{T: 2, N: 1, Searches: 1, Mean: high}}}
		for _, data := range []drawer{curves, cells} {
			if svg := svgOf(t, data); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s: %T has points that are not numbers", name, data)
			}
		}
	}
}

// An optimum that may be anywhere gets no mark. One that is known better does.
func TestOpenOptimumHasNoMark(t *testing.T) {
	open := samples()["surface_open"].(plot.Surface)
	known := open
	known.Optima = []plot.Optimum{{Budget: 16, N: 4, Low: 2, High: 16}}
	unsure := known
	unsure.Optima = []plot.Optimum{{Budget: 16, N: 4, Low: 2, High: 16, Unsure: true}}
	marks := func(s plot.Surface) int { return strings.Count(svgOf(t, s), "A3.4,") }
	a, b, c := marks(open), marks(known), marks(unsure)
	if a == 0 || b != a+2 || c != a { // a circle is two arcs; the legend has one in each
		t.Errorf("an open optimum has %d arcs of marks, a known one %d, an unsure one %d", a, b, c)
	}
}

// Percentiles need not hold the estimate: here both are one number, rounded in two ways.
func TestOptimumBesideItsInterval(t *testing.T) {
	s := sampleOpen()
	s.Optima = []plot.Optimum{{Budget: 4, N: 2.7984255852721667, Low: 1, High: 2.7984255852721653}}
	if _, err := s.Draw(); err != nil {
		t.Error(err)
	}
}

// A run of a hundred thousand generations takes no more room in the file than can be seen.
func TestLongLinesAreThinned(t *testing.T) {
	l := plot.Line{Name: "long", Runs: 1}
	for i := range 100_000 {
		l.X, l.Y = append(l.X, float64(i)), append(l.Y, math.Sqrt(float64(i)))
	}
	svg := svgOf(t, plot.Curves{X: "calls", Panels: []plot.Panel{{Lines: []plot.Line{l}}}})
	if len(svg) > 60_000 {
		t.Errorf("%d bytes", len(svg))
	}
	// The line ends where it ends: at the top right, 316.2 of a range of 3 % more on either side.
	if !strings.Contains(svg, ">300</text>") {
		t.Error("the axis does not reach the end of the line")
	}
}

func svgOf(t *testing.T, data drawer) string {
	t.Helper()
	var b bytes.Buffer
	if err := draw(t, data).SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}
