package plot

import (
	"image/color"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	xfont "golang.org/x/image/font"
)

// A style is how one line is told from the others.
type style struct {
	color  color.NRGBA
	dashes []vg.Length // nil: solid
	marker draw.GlyphDrawer
}

// colors are Okabe and Ito's (2008) and Tol's (2021) hues, made lighter or darker until any two differ by at
// least minLightness in CIE lightness L*, so that a copier keeps them apart, and neighbours by more. All are dark
// enough to be seen on white.
func colors() []color.NRGBA {
	return []color.NRGBA{
		{0x00, 0x59, 0x8C, 0xFF}, // blue
		{0xD2, 0x91, 0x00, 0xFF}, // ochre
		{0x00, 0x00, 0x00, 0xFF}, // black
		{0xB4, 0x4E, 0x00, 0xFF}, // vermillion
		{0x22, 0x15, 0x60, 0xFF}, // indigo
		{0x00, 0x97, 0x6E, 0xFF}, // teal
		{0x6F, 0x1A, 0x45, 0xFF}, // wine
	}
}

// minLightness is by how much any two of the colors differ in L*, of 100 between black and white.
const minLightness = 8

func dashes() [][]vg.Length {
	return [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}, {9, 3}}
}

func markers() []draw.GlyphDrawer {
	return []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{},
	}
}

// styleOf returns the style of the i-th line. The numbers of colors, dashes and markers have no common divisor,
// so 210 lines have styles of their own, and the first five differ in each of the three.
func styleOf(i int) style {
	c, d, m := colors(), dashes(), markers()
	return style{c[i%len(c)], d[i%len(d)], m[i%len(m)]}
}

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: vg.Points(1.3), Dashes: s.dashes}
}

func (s style) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Radius: vg.Points(2.4), Shape: s.marker}
}

// band is the color of an interval's area, one of so many in a plot. Lines and areas under it are seen through it, the
// more of them the better.
func (s style) band(bands int) color.NRGBA {
	const few, alpha = 3, 0x2C
	c := s.color
	c.A = uint8(alpha * few / max(few, bands))
	return c
}

// edge is the line around an interval's area, without which areas that overlap would not be told apart in grey.
func (s style) edge() draw.LineStyle {
	c := s.color
	c.A = 0x90
	return draw.LineStyle{Color: c, Width: vg.Points(0.4), Dashes: s.dashes}
}

var (
	ink      = color.NRGBA{0x22, 0x22, 0x22, 0xFF} // text and axes
	faint    = color.NRGBA{0xDD, 0xDD, 0xDD, 0xFF} // the grid
	faintest = color.NRGBA{0xF4, 0xF4, 0xF4, 0xFF} // cells of nothing
	paper    = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
)

// Sizes of text, in points.
const (
	titleSize   = 11
	labelSize   = 9
	tickSize    = 8
	captionSize = 8
)

func words(size float64) text.Style {
	return text.Style{Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(size)),
		Handler: gonum.DefaultTextHandler}
}

func bold(size float64) text.Style {
	s := words(size)
	s.Font.Weight = xfont.WeightBold
	return s
}
