package plot

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/evoalloc/evoalloc/internal/printable"
)

const (
	margin    = vg.Length(8)
	lineGap   = vg.Length(3)
	thumbW    = vg.Length(24)
	entryGap  = vg.Length(14)
	rowHeight = vg.Length(12)
)

// A key is an entry of a legend.
type key struct {
	name  string
	thumb func(c draw.Canvas) // draws a sample within c
}

// A page is what every figure has around its plots.
type page struct {
	title, caption string
	keys           []key
	w, h           vg.Length // of the plots
}

// figure returns the figure whose plots body draws, with the page's title and legend above and its caption below.
func (p page) figure(body func(draw.Canvas)) *Figure {
	inner := p.w - 2*margin
	title := wrap(bold(titleSize), p.title, inner)
	caption := wrap(words(captionSize), p.caption, inner)
	rows := arrange(p.keys, inner)
	if len(p.keys) == 0 {
		rows = nil
	}
	above := block(bold(titleSize), title) + vg.Length(len(rows))*rowHeight + 2*lineGap
	below := block(words(captionSize), caption) + lineGap
	return &Figure{w: p.w, h: p.h + above + below + 2*margin, paint: func(c draw.Canvas) {
		c.SetColor(paper)
		c.Fill(c.Rectangle.Path())
		c = draw.Crop(c, margin, -margin, margin, -margin)
		top := write(c, bold(titleSize), title, c.Max.Y)
		legend(c, rows, top-lineGap)
		write(c, words(captionSize), caption, c.Min.Y+below-lineGap)
		body(draw.Crop(c, 0, 0, below, -above))
	}}
}

// write writes lines from top down, and returns where they end.
func write(c draw.Canvas, s text.Style, lines []string, top vg.Length) vg.Length {
	s.YAlign = draw.YTop
	for _, line := range lines {
		c.FillText(s, vg.Point{X: c.Min.X, Y: top}, line)
		top -= pitch(s)
	}
	return top
}

func pitch(s text.Style) vg.Length { return s.Font.Size * 1.3 }

func block(s text.Style, lines []string) vg.Length { return vg.Length(len(lines)) * pitch(s) }

// wrap breaks text into lines of at most width. A single word that is longer has a line of its own.
func wrap(s text.Style, text string, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(printable.Line(text)) {
		switch longer := strings.TrimPrefix(line+" "+word, " "); {
		case line != "" && word != "%" && s.Width(longer) > width: // a percent sign stays with its number
			lines = append(lines, line)
			line = word
		default:
			line = longer
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// arrange breaks the keys into rows of at most width: one row if all go in, and else columns as wide as the widest.
func arrange(keys []key, width vg.Length) [][]placed {
	var row []placed
	x, widest := vg.Length(0), vg.Length(0)
	for _, k := range keys {
		k.name = printable.Line(k.name)
		w := thumbW + 4 + words(labelSize).Width(k.name) + entryGap
		row = append(row, placed{k, x})
		x, widest = x+w, max(widest, w)
	}
	if x <= width+entryGap {
		return [][]placed{row}
	}
	columns := max(1, int((width+entryGap)/widest))
	for i := range row {
		row[i].x = widest * vg.Length(i%columns)
	}
	return slices.Collect(slices.Chunk(row, columns))
}

// placed is a key and how far from the left it stands.
type placed struct {
	key
	x vg.Length
}

// legend draws the rows of keys from top down.
func legend(c draw.Canvas, rows [][]placed, top vg.Length) {
	s := words(labelSize)
	s.YAlign = draw.YCenter
	for _, row := range rows {
		for _, k := range row {
			x, y := c.Min.X+k.x, top-rowHeight/2
			k.thumb(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - rowHeight/2 + 2},
				Max: vg.Point{X: x + thumbW, Y: y + rowHeight/2 - 2}}})
			c.FillText(s, vg.Point{X: x + thumbW + 4, Y: y + s.Font.Size/8}, k.name) // letters, not their box, stand level
		}
		top -= rowHeight
	}
}
