package plot

import (
	"math"
	"slices"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// tiles are the cells of a surface, as rectangles over log2 T and log2 N.
type tiles struct {
	cells          []analysis.Cell
	dx, dy         float64 // half of a tile's width and height
	x0, x1, y0, y1 float64 // the corners of all
	low, high      float64 // the range of means
}

func newTiles(cells []analysis.Cell) tiles {
	g := tiles{cells: cells, low: math.Inf(1), high: math.Inf(-1)}
	var xs, ys []float64
	for _, c := range cells {
		xs, ys = append(xs, math.Log2(float64(c.T))), append(ys, math.Log2(float64(c.N)))
		g.low, g.high = min(g.low, c.Mean), max(g.high, c.Mean)
	}
	g.dx, g.dy = halfGap(xs), halfGap(ys)
	g.x0, g.x1 = slices.Min(xs)-g.dx, slices.Max(xs)+g.dx
	g.y0, g.y1 = slices.Min(ys)-g.dy, slices.Max(ys)+g.dy
	return g
}

// halfGap is half of the least distance between unlike values, so that tiles touch and do not overlap. It is
// at most 1/2, which is that of powers of two.
func halfGap(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	gap := 1.0
	for i := 1; i < len(values); i++ {
		if d := values[i] - values[i-1]; d > 1e-9 {
			gap = min(gap, d)
		}
	}
	return gap / 2
}

// shade is where a mean lies between the least and the largest.
func (g tiles) shade(mean float64) float64 {
	if alike(g.low, g.high) {
		return 0.5
	}
	return (mean - g.low) / (g.high - g.low)
}

// paint draws the tiles.
func (g tiles) paint(c draw.Canvas, p *gonum.Plot) {
	for _, cell := range g.cells {
		at := g.corners(c, p, cell)
		c.FillPolygon(ramp(g.shade(cell.Mean)), box(at.Min.X, at.Min.Y, at.Max.X, at.Max.Y))
	}
}

// numbers writes the means into the tiles, if there is room.
func (g tiles) numbers(c draw.Canvas, p *gonum.Plot) {
	s := words(7)
	s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
	for _, cell := range g.cells {
		at, label := g.corners(c, p, cell), strconv.FormatFloat(cell.Mean, 'f', 3, 64)
		if size := at.Size(); s.Width(label)+2 > size.X || size.Y < 10 {
			return
		}
		s.Color = over(ramp(g.shade(cell.Mean)))
		c.FillText(s, vg.Point{X: (at.Min.X + at.Max.X) / 2, Y: (at.Min.Y+at.Max.Y)/2 + s.Font.Size/8}, label)
	}
}

// corners returns where the tile of a cell is.
func (g tiles) corners(c draw.Canvas, p *gonum.Plot, cell analysis.Cell) vg.Rectangle {
	x, y := p.Transforms(&c)
	cx, cy := math.Log2(float64(cell.T)), math.Log2(float64(cell.N))
	return vg.Rectangle{Min: vg.Point{X: x(cx - g.dx), Y: y(cy - g.dy)}, Max: vg.Point{X: x(cx + g.dx), Y: y(cy + g.dy)}}
}

// holds reports whether a point (log2 T, log2 N) lies in a tile.
func (g tiles) holds(x, y float64) bool {
	return slices.ContainsFunc(g.cells, func(c analysis.Cell) bool {
		return math.Abs(x-math.Log2(float64(c.T))) <= g.dx && math.Abs(y-math.Log2(float64(c.N))) <= g.dy
	})
}

// bar returns the scale that says which color is which mean.
func (g tiles) bar(label string) *gonum.Plot {
	p := newPlot("", label)
	p.HideX()
	p.X.Min, p.X.Max = 0, 1
	low, high := widened(g.low, g.high)
	span(&p.Y, Linear, low, high, 0)
	p.Add(painter(func(c draw.Canvas, p *gonum.Plot) {
		_, y := p.Transforms(&c)
		const steps = 64
		for i := range steps {
			b := y(low + float64(i)/steps*(high-low)) // each goes up to the top, so that no seams are seen
			c.FillPolygon(ramp((float64(i)+0.5)/steps), box(c.Min.X, b, c.Max.X, c.Max.Y))
		}
	}))
	return p
}

// box returns the corners of a rectangle.
func box(left, low, right, high vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}
}
