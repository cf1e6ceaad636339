package plot

import (
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// chart is what figures of lines have in common.
type chart struct {
	page
	x, y     string // what the axes are of
	scale    Scale  // of x
	panels   []Panel
	from, to *float64 // y reaches this far at least; nil: as the lines do
}

// Sizes of the plots of a chart.
const (
	soleW, soleH   = vg.Length(430), vg.Length(250)
	panelW, panelH = vg.Length(215), vg.Length(165)
	mostColumns    = 4
	marksALine     = 7
)

// figure returns the figure of the chart's panels, as nearly square as columns allow.
func (c chart) figure() *Figure {
	columns, w, h := columnsFor(len(c.panels)), panelW, panelH
	if len(c.panels) == 1 {
		w, h = soleW, soleH
	}
	rows := (len(c.panels) + columns - 1) / columns
	c.w, c.h = 2*margin+vg.Length(columns)*w, vg.Length(rows)*h
	byName, names := styles(c.panels)
	for _, name := range names {
		s := byName[name]
		c.keys = append(c.keys, key{name + " (" + runs(c.panels, name) + ")", s.thumb})
	}
	plots := make([]*gonum.Plot, len(c.panels))
	for i, p := range c.panels {
		plots[i] = c.plot(p, byName)
	}
	return c.page.figure(func(dc draw.Canvas) {
		for i, p := range plots {
			x, y := dc.Min.X+vg.Length(i%columns)*w, dc.Max.Y-vg.Length(i/columns)*h
			p.Draw(draw.Canvas{Canvas: dc.Canvas,
				Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - h + 4}, Max: vg.Point{X: x + w - 6, Y: y}}})
		}
	})
}

func columnsFor(panels int) int {
	if panels <= 3 {
		return panels
	}
	return min(mostColumns, int(math.Ceil(math.Sqrt(float64(panels)))))
}

// thumb draws a sample of the line for the legend.
func (s style) thumb(c draw.Canvas) {
	c.StrokeLine2(s.line(), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
	c.DrawGlyphNoClip(s.glyph(), c.Center())
}

// plot returns one panel's plot: bands below all lines, so that no line hides in one.
func (c chart) plot(panel Panel, byName map[string]style) *gonum.Plot {
	p := newPlot(c.x, c.y)
	p.Title.Text, p.Title.TextStyle, p.Title.Padding = panel.Title, bold(labelSize), 3
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	c.reach(p, panel)
	p.Add(grid(false))
	for _, l := range panel.Lines {
		p.Add(c.band(l, byName[l.Name], len(panel.Lines)))
	}
	for i, l := range panel.Lines {
		p.Add(c.stroke(l, byName[l.Name], i, len(panel.Lines)))
	}
	return p
}

// reach sets the ranges of both axes.
func (c chart) reach(p *gonum.Plot, panel Panel) {
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range panel.Lines {
		x0, x1 = min(x0, c.scale.at(l.X[0])), max(x1, c.scale.at(l.X[len(l.X)-1]))
		for _, list := range [][]float64{l.Y, l.Low, l.High} {
			for _, v := range list {
				y0, y1 = min(y0, v), max(y1, v)
			}
		}
	}
	if c.from != nil {
		y0 = min(y0, *c.from)
	}
	if c.to != nil {
		y1 = max(y1, *c.to)
	}
	span(&p.X, c.scale, x0, x1+0.015*(x1-x0), 0) // with room for the tails
	span(&p.Y, Linear, y0, y1, 0.03)
}

// band draws the area of a line's interval, one of so many, with an edge.
func (c chart) band(l Line, s style, bands int) painter {
	return func(dc draw.Canvas, p *gonum.Plot) {
		if l.Low == nil {
			return
		}
		low, high := c.steps(dc, p, l.X, l.Low), c.steps(dc, p, l.X, l.High)
		area := append([]vg.Point(nil), low...)
		for i := len(high) - 1; i >= 0; i-- {
			area = append(area, high[i])
		}
		dc.FillPolygon(s.band(bands), dc.ClipPolygonXY(area))
		dc.StrokeLines(s.edge(), dc.ClipLinesXY(low, high)...)
	}
}

// stroke draws a line and some markers on it, which stand at other places on each of the lines.
func (c chart) stroke(l Line, s style, index, lines int) painter {
	return func(dc draw.Canvas, p *gonum.Plot) {
		points := c.steps(dc, p, l.X, l.Y)
		dc.StrokeLines(s.line(), dc.ClipLinesXY(points)...)
		if len(l.X) == 1 {
			dc.DrawGlyph(s.glyph(), points[0])
			return
		}
		first, last := points[0].X, points[len(points)-1].X-tail
		for mark := range marksALine {
			at := first + (last-first)*vg.Length((float64(mark)+(float64(index)+0.5)/float64(lines))/marksALine)
			dc.DrawGlyph(s.glyph(), vg.Point{X: at, Y: height(points, at)})
		}
	}
}

// height returns where a line of steps is at x.
func height(points []vg.Point, x vg.Length) vg.Length {
	y := points[0].Y
	for _, p := range points {
		if p.X > x {
			break
		}
		y = p.Y
	}
	return y
}

// thin is how near points may lie, in points of length, before some are left out: a run has more generations than
// can be seen, and each would be in the file.
const thin = 1.5

// tail is how far a line goes on after its last point, so that its last step can be seen.
const tail = 4

// steps returns the corners of a line of steps on the canvas. Where points lie nearer than thin, the last of them
// stands for all.
func (c chart) steps(dc draw.Canvas, p *gonum.Plot, xs, ys []float64) []vg.Point {
	trX, trY := p.Transforms(&dc)
	at := func(i int) vg.Point { return vg.Point{X: trX(c.scale.at(xs[i])), Y: trY(ys[i])} }
	points := []vg.Point{at(0)}
	for i := 1; i < len(xs); i++ {
		last, next := points[len(points)-1], at(i)
		if i < len(xs)-1 && trX(c.scale.at(xs[i+1]))-last.X < thin {
			continue
		}
		if next.Y != last.Y {
			points = append(points, vg.Point{X: next.X, Y: last.Y})
		}
		points = append(points, next)
	}
	last := points[len(points)-1]
	return append(points, vg.Point{X: last.X + tail, Y: last.Y})
}
