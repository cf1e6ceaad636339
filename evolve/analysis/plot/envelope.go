package plot

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Envelope shows the score of the best split of each budget. The best of several noisy means is too high, so what
// splits that are chosen on half of the seeds score on the other half is drawn beside it.
type Envelope struct {
	Title    string
	Interval string // what Low and High are
	Lines    []EnvelopeLine
}

// An EnvelopeLine is the envelope of one method, by budget.
type EnvelopeLine struct {
	Name   string
	Runs   int // how many runs a split has; at least 1
	Points []EnvelopePoint
}

// An EnvelopePoint is the best split of one budget.
type EnvelopePoint struct {
	Budget    int     // calls
	N         int     // the breadth of the split with the best mean; 0 if the method has none
	Best      float64 // that mean, on the seeds that it was chosen by
	Low, High float64 // its interval
	Fair      float64 // the mean score on other seeds than those that a split was chosen by
}

// Draw returns the figure, or an error that names the point that cannot be drawn.
func (e Envelope) Draw() (*Figure, error) {
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("plot: envelope: %w", err)
	}
	p := newPlot("budget C, model calls", "mean best score")
	e.reach(p)
	p.Add(grid(true))
	pg := page{title: e.Title, caption: e.caption(), w: soleW + 2*margin, h: soleH}
	for i, l := range e.Lines {
		s := styleOf(i)
		p.Add(painter(func(c draw.Canvas, p *gonum.Plot) { l.paint(c, p, s, i, len(e.Lines)) }))
		pg.keys = append(pg.keys, key{fmt.Sprintf("%s (n = %d)", l.Name, l.Runs), s.thumb})
	}
	pg.keys = append(pg.keys, key{"on other seeds", fairThumb})
	return pg.figure(func(c draw.Canvas) { p.Draw(draw.Crop(c, 0, -6, 0, 0)) }), nil
}

func (e Envelope) caption() string {
	return "The split with the best mean of each budget, which is too high as it was chosen for it; dotted: splits " +
		"chosen on half of the seeds, scored on the others. " + e.Interval + "."
}

func (e Envelope) check() error {
	if len(e.Lines) == 0 {
		return fmt.Errorf("there are no lines to draw")
	}
	if e.Interval == "" {
		return fmt.Errorf("what Low and High are is not said in Interval")
	}
	for _, l := range e.Lines {
		if l.Name == "" || l.Runs < 1 || len(l.Points) == 0 {
			return fmt.Errorf("line %q is of %d runs and %d points, want a name and one of each at least",
				l.Name, l.Runs, len(l.Points))
		}
		for _, pt := range l.Points {
			if err := pt.check(); err != nil {
				return fmt.Errorf("line %q, C=%d: %w", l.Name, pt.Budget, err)
			}
		}
	}
	return nil
}

func (p EnvelopePoint) check() error {
	for _, v := range []float64{p.Best, p.Fair, p.Low, p.High} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is among its scores, want finite ones", v)
		}
	}
	if p.Budget < 1 || p.Low > p.High {
		return fmt.Errorf("the interval is [%v, %v], want a budget of at least 1 and ends in order", p.Low, p.High)
	}
	return nil
}

func (e Envelope) reach(p *gonum.Plot) {
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range e.Lines {
		for _, pt := range l.Points {
			at := math.Log2(float64(pt.Budget))
			x0, x1 = min(x0, at), max(x1, at)
			y0, y1 = min(y0, pt.Low, pt.Fair, pt.Best), max(y1, pt.High, pt.Fair, pt.Best)
		}
	}
	span(&p.X, Log2, x0, x1, 0.05)
	span(&p.Y, Linear, y0, y1, 0.06)
}

// paint draws a line, its intervals and what each split is. Lines stand a little beside each other, so that
// intervals do not hide one another.
func (l EnvelopeLine) paint(c draw.Canvas, p *gonum.Plot, s style, index, lines int) {
	x, y := p.Transforms(&c)
	aside := vg.Length(float64(index)-float64(lines-1)/2) * 5
	at := func(pt EnvelopePoint, v float64) vg.Point {
		return vg.Point{X: x(math.Log2(float64(pt.Budget))) + aside, Y: y(v)}
	}
	var best, fair []vg.Point
	for _, pt := range l.Points {
		best, fair = append(best, at(pt, pt.Best)), append(fair, at(pt, pt.Fair))
		whisker(c, s, at(pt, pt.Low), at(pt, pt.High))
	}
	c.StrokeLines(fairStyle(s), fair)
	c.StrokeLines(s.line(), best)
	label, dx, dy := beside(index)
	for i, pt := range l.Points {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: s.color, Radius: 1.6, Shape: draw.RingGlyph{}}, fair[i])
		c.DrawGlyphNoClip(s.glyph(), best[i])
		if pt.N > 0 {
			c.FillText(label, vg.Point{X: best[i].X + dx, Y: best[i].Y + dy}, fmt.Sprintf("N=%d", pt.N))
		}
	}
}

// beside returns how the splits of a line are written: those of every other line above it and to the left.
func beside(index int) (s text.Style, dx, dy vg.Length) {
	s = words(7)
	if index%2 == 1 {
		s.XAlign, s.YAlign = draw.XRight, draw.YBottom
		return s, -3, 3
	}
	s.XAlign, s.YAlign = draw.XLeft, draw.YTop
	return s, 3, -3
}

// whisker draws an interval as a bar with ends.
func whisker(c draw.Canvas, s style, low, high vg.Point) {
	sty := draw.LineStyle{Color: s.color, Width: 0.8}
	c.StrokeLine2(sty, low.X, low.Y, high.X, high.Y)
	for _, end := range []vg.Point{low, high} {
		c.StrokeLine2(sty, end.X-2, end.Y, end.X+2, end.Y)
	}
}

// fairStyle is the line of the scores on other seeds.
func fairStyle(s style) draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: 0.6, Dashes: []vg.Length{1, 2}}
}

func fairThumb(c draw.Canvas) {
	c.StrokeLine2(fairStyle(style{color: ink}), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: 1.6, Shape: draw.RingGlyph{}}, c.Center())
}
