package plot

import (
	"fmt"
	"io"

	gonum "gonum.org/v1/plot"
)

// What the tests look at from outside.
var (
	Colors     = colors
	Ramp       = ramp
	Lightness  = lightness
	Linearized = linear
	Number     = number
	LeastApart = float64(minLightness)
	Look       = func(i int) [3]any { s := styleOf(i); return [3]any{s.color, fmt.Sprint(s.dashes), s.marker} }
)

// TicksOf returns the ticks of a scale between two values of it.
func TicksOf(s Scale, low, high float64) []gonum.Tick { return ticker{s}.Ticks(low, high) }

// PNGAt writes the figure in another resolution.
func (f *Figure) PNGAt(w io.Writer, dpi int) error { return f.png(w, dpi) }
