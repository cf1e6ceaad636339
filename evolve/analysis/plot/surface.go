package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// Surface shows the mean best score of searches by depth T and breadth N, on logarithmic axes, where splits of one
// budget T·N lie on a falling diagonal.
type Surface struct {
	Title string
	Cells []analysis.Cell // of which T, N, Mean and Searches are drawn
	// Fit is drawn as contours of Ceiling − exp(Fit.At(T, N)); nil: none.
	Fit     *analysis.Surface
	Ceiling float64
	// Optima are the splits that the fit says are best, by budget, in order of budgets. One that is unsure, or whose
	// interval reaches from one end of its budget to the other, gets no mark.
	Optima []Optimum
	// Interval says what Low and High of the optima are. It is needed if there are optima.
	Interval string
}

// An Optimum is the breadth that is best for a budget of calls, and the interval in which it lies. The depth is
// Budget / N.
type Optimum struct {
	Budget, N, Low, High float64
	Unsure               bool // the data leave open whether the best split is inside at all
}

// open reports whether the interval holds every split of the budget, from N = 1 to N = Budget.
func (o Optimum) open() bool { return o.Low <= 1 && o.High >= o.Budget }

// Draw returns the figure, or an error that names the cell or the optimum that cannot be drawn.
func (s Surface) Draw() (*Figure, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("plot: surface: %w", err)
	}
	g := newTiles(s.Cells)
	p := newPlot("depth T, generations", "breadth N, children in a generation")
	span(&p.X, Log2, g.x0, g.x1, 0)
	span(&p.Y, Log2, g.y0, g.y1, 0)
	p.Add(painter(g.paint), painter(optima(s.Optima).band))
	if s.Fit != nil {
		p.Add(painter(contours{*s.Fit, s.Ceiling, g}.lines))
	}
	p.Add(painter(g.numbers))
	if s.Fit != nil {
		p.Add(painter(contours{*s.Fit, s.Ceiling, g}.tags))
	}
	p.Add(painter(optima(s.Optima).marks))
	bar := g.bar("mean best score")
	pg := page{title: s.Title, caption: s.caption(), keys: s.keys(), w: 460, h: 300}
	return pg.figure(func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 0, -62, 0, 0))
		bar.Draw(draw.Crop(c, c.Max.X-c.Min.X-56, 0, 24, -10))
	}), nil
}

func (s Surface) check() error {
	if len(s.Cells) == 0 {
		return fmt.Errorf("there are no cells to draw")
	}
	for _, c := range s.Cells {
		if c.T < 1 || c.N < 1 || c.Searches < 1 || math.IsNaN(c.Mean) || math.IsInf(c.Mean, 0) {
			return fmt.Errorf("cell T=%d N=%d has a mean of %v over %d runs, want T, N and runs of at least 1 and a finite mean",
				c.T, c.N, c.Mean, c.Searches)
		}
	}
	for _, o := range s.Optima {
		// N may lie outside: percentiles need not hold the estimate, and where they do at an end they are rounded.
		if !(o.Budget >= 1 && o.Low > 0 && o.Low <= o.High && o.N > 0 && !math.IsInf(max(o.N, o.High), 0)) {
			return fmt.Errorf("the optimum for C=%v is N=%v in [%v, %v], want a number and a finite interval above 0",
				o.Budget, o.N, o.Low, o.High)
		}
	}
	if len(s.Optima) > 0 && s.Interval == "" {
		return fmt.Errorf("there are optima, and Interval does not say what their intervals are")
	}
	return nil
}

// caption says what is drawn, of how many searches.
func (s Surface) caption() string {
	low, high, open := math.MaxInt, 0, false
	for _, c := range s.Cells {
		low, high = min(low, c.Searches), max(high, c.Searches)
	}
	for _, o := range s.Optima {
		open = open || o.Unsure || o.open()
	}
	text := fmt.Sprintf("Tiles: %s of %s searches a cell; splits of one budget T·N lie on a falling diagonal",
		"mean best score", many(low, high))
	if s.Fit != nil {
		text += "; lines: contours of the fit"
	}
	if len(s.Optima) > 0 {
		text += "; optimum: " + s.Interval
	}
	if open {
		text += "; no optimum is marked where it may be anywhere, or not inside"
	}
	return text + "."
}

func (s Surface) keys() []key {
	var keys []key
	if s.Fit != nil {
		keys = append(keys, key{"fitted score", func(c draw.Canvas) {
			c.StrokeLine2(contourStyle(), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		}})
	}
	if len(s.Optima) > 0 {
		keys = append(keys, key{"optimum of the fit by budget, and its interval", func(c draw.Canvas) {
			low, high := c.Min.Y, c.Max.Y
			c.FillPolygon(ramp(0.6), box(c.Min.X, low, c.Max.X, high))
			c.FillPolygon(veil, box(c.Min.X+2, low, c.Max.X-2, high))
			for _, x := range []vg.Length{c.Min.X + 2, c.Max.X - 2} {
				c.StrokeLine2(edgeStyle(), x, low, x, high)
			}
			mark(c, c.Center())
		}})
	}
	return keys
}
