package plot

import (
	"image/color"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// optima are the best splits by budget, in order of budgets.
type optima []Optimum

// place returns where a split of a budget is.
func place(c draw.Canvas, p *gonum.Plot) func(budget, n float64) vg.Point {
	x, y := p.Transforms(&c)
	return func(budget, n float64) vg.Point {
		return vg.Point{X: x(math.Log2(budget / n)), Y: y(math.Log2(n))}
	}
}

// band draws the intervals as an area from budget to budget. The cells and their means are seen through it.
func (o optima) band(c draw.Canvas, p *gonum.Plot) {
	at := place(c, p)
	var low, high []vg.Point
	for _, best := range o {
		low, high = append(low, at(best.Budget, best.Low)), append(high, at(best.Budget, best.High))
	}
	if len(o) == 1 { // an area needs a width: half of the way to the budgets beside it
		best := o[0]
		low = []vg.Point{at(best.Budget/math.Sqrt2, best.Low/math.Pow(2, 0.25)),
			at(best.Budget*math.Sqrt2, best.Low*math.Pow(2, 0.25))}
		high = []vg.Point{at(best.Budget/math.Sqrt2, best.High/math.Pow(2, 0.25)),
			at(best.Budget*math.Sqrt2, best.High*math.Pow(2, 0.25))}
	}
	area := append([]vg.Point(nil), low...)
	for i := len(high) - 1; i >= 0; i-- {
		area = append(area, high[i])
	}
	if len(area) > 0 {
		c.FillPolygon(veil, c.ClipPolygonXY(area))
		c.StrokeLines(edgeStyle(), c.ClipLinesXY(low, high)...)
	}
}

// marks draws a mark at each optimum that is known to be there.
func (o optima) marks(c draw.Canvas, p *gonum.Plot) {
	at := place(c, p)
	for _, best := range o {
		if to := at(best.Budget, best.N); !best.Unsure && !best.open() && c.Contains(to) {
			mark(c, to)
		}
	}
}

// mark marks an optimum: white with a dark edge, to be seen on every color of the ramp.
func mark(c draw.Canvas, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: 3.4, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: paper, Radius: 2.2, Shape: draw.CircleGlyph{}}, at)
}

// veil is what lies over the cells of an interval.
var veil = color.NRGBA{0xFF, 0xFF, 0xFF, 0x50}

func edgeStyle() draw.LineStyle {
	return draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{4, 2}}
}
