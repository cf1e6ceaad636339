package plot

import (
	"cmp"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// contours draws lines of equal score of a fit. The lines are known in closed form, and gonum's own contours come
// in the order of a map, so that a file would differ from run to run.
type contours struct {
	fit     analysis.Surface
	ceiling float64
	tiles
}

// contourSteps is how many points a contour has at most.
const contourSteps = 400

func contourStyle() draw.LineStyle { return draw.LineStyle{Color: ink, Width: 0.7} }

// lines draws the lines.
func (f contours) lines(c draw.Canvas, p *gonum.Plot) {
	for _, level := range f.levels() {
		c.StrokeLines(contourStyle(), f.pieces(c, p, level)...)
	}
}

// tags writes the score of each line at the middle of its longest piece.
func (f contours) tags(c draw.Canvas, p *gonum.Plot) {
	levels := f.levels()
	digits := digitsOf(levels)
	for _, level := range levels {
		if pieces := f.pieces(c, p, level); len(pieces) > 0 {
			longest := slices.MaxFunc(pieces, func(a, b []vg.Point) int { return cmp.Compare(length(a), length(b)) })
			tag(c, longest, numberIn(level, digits))
		}
	}
}

// pieces returns the line of a score on the canvas.
func (f contours) pieces(c draw.Canvas, p *gonum.Plot, score float64) [][]vg.Point {
	x, y := p.Transforms(&c)
	var pieces [][]vg.Point
	for _, branch := range f.branches(score) {
		points := make([]vg.Point, len(branch))
		for i, at := range branch {
			points[i] = vg.Point{X: x(at[0]), Y: y(at[1])}
		}
		if len(points) > 1 {
			pieces = append(pieces, points)
		}
	}
	return pieces
}

// tag writes a level at the middle of a line that is long enough for it, on paper.
func tag(c draw.Canvas, line []vg.Point, label string) {
	whole := length(line)
	if whole < 40 {
		return
	}
	walked := vg.Length(0)
	for i := 1; i < len(line); i++ {
		if walked += distance(line[i-1], line[i]); walked < whole/2 {
			continue
		}
		s := words(7)
		s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
		w, h, at := s.Width(label)/2+1.5, vg.Length(4.5), line[i]
		c.FillPolygon(paper, box(at.X-w, at.Y-h, at.X+w, at.Y+h))
		c.FillText(s, vg.Point{X: at.X, Y: at.Y + s.Font.Size/8}, label)
		return
	}
}

func length(line []vg.Point) (sum vg.Length) {
	for i := 1; i < len(line); i++ {
		sum += distance(line[i-1], line[i])
	}
	return sum
}

func distance(a, b vg.Point) vg.Length {
	return vg.Length(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)))
}

// levels returns the scores that lines are drawn for: round ones within what the fit says of the cells.
func (f contours) levels() []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range f.cells {
		v := f.ceiling - math.Exp(f.fit.At(float64(c.T), float64(c.N)))
		low, high = min(low, v), max(high, v)
	}
	return round(low, high, 6)
}

// branches returns the line of a score as points (log2 T, log2 N), in pieces: the fit's hyperbola may have its
// pole within the plot, and where no cells are the fit is not shown.
func (f contours) branches(score float64) [][][2]float64 {
	gap := math.Log(f.ceiling-score) - f.fit.B0
	var all [][][2]float64
	var branch [][2]float64
	sign := 0.0
	for i := range contourSteps + 1 {
		x := f.x0 + (f.x1-f.x0)*float64(i)/contourSteps
		slope := f.fit.B + f.fit.C*x*math.Ln2 // ln(ceiling − V) changes so much with ln N
		y := (gap - f.fit.A*x*math.Ln2) / slope / math.Ln2
		inside := slope != 0 && f.holds(x, y)
		if !inside || slope*sign < 0 {
			all, branch = append(all, branch), nil
		}
		if sign = slope; inside {
			branch = append(branch, [2]float64{x, y})
		}
	}
	return append(all, branch)
}
