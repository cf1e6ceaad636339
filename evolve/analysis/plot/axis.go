package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// A Scale is how values lie along an axis.
type Scale int

// The scales. On a logarithmic one every value must be above 0.
const (
	Linear Scale = iota
	Log2         // ticks at powers of two
	Log10        // ticks at powers of ten, and between them where there is room
)

// String returns the scale's name.
func (s Scale) String() string {
	switch s {
	case Linear:
		return "linear"
	case Log2:
		return "log2"
	case Log10:
		return "log10"
	}
	return fmt.Sprintf("Scale(%d)", int(s))
}

// at returns where v lies on an axis of this scale. Logarithms are drawn on a linear axis, as gonum's own
// logarithmic one does not go with everything that is drawn here.
func (s Scale) at(v float64) float64 {
	switch s {
	case Log2:
		return math.Log2(v)
	case Log10:
		return math.Log10(v)
	}
	return v
}

// ticker is a scale's ticks.
type ticker struct{ Scale }

var _ gonum.Ticker = ticker{}

// Ticks returns the ticks between low and high, which are values of at.
func (s ticker) Ticks(low, high float64) []gonum.Tick {
	switch s.Scale {
	case Log2:
		if ticks := powers(low, high, 2); len(ticks) > 0 {
			return ticks
		}
		return even(math.Exp2(low), math.Exp2(high), Log2.at)
	case Log10:
		if high-low >= 1.5 {
			return powers(low, high, 10)
		}
		if ticks := within(low, high); len(ticks) > 0 {
			return ticks
		}
		return even(math.Pow(10, low), math.Pow(10, high), Log10.at)
	}
	return even(low, high, Linear.at)
}

// even returns a tick for each of about five round numbers from low to high, which lie where at says.
func even(low, high float64, at func(float64) float64) []gonum.Tick {
	var ticks []gonum.Tick
	numbers := round(low, high, 5)
	digits := digitsOf(numbers)
	for _, v := range numbers {
		ticks = append(ticks, gonum.Tick{Value: at(v), Label: numberIn(v, digits)})
	}
	return ticks
}

// powers returns a tick for each power of base, with labels at no more than ten of them.
func powers(low, high, base float64) []gonum.Tick {
	var ticks []gonum.Tick
	first, last := math.Ceil(low-1e-9), math.Floor(high+1e-9)
	every := math.Ceil((last - first + 1) / 10)
	for i := first; i <= last; i++ {
		t := gonum.Tick{Value: i}
		if math.Mod(i-first, every) == 0 {
			t.Label = number(math.Pow(base, i))
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// within returns ticks for less than two decades, at round multiples.
func within(low, high float64) []gonum.Tick {
	var ticks []gonum.Tick
	for decade := math.Floor(low); decade <= high; decade++ {
		for _, m := range []float64{1, 2, 3, 5, 7} {
			if v := decade + math.Log10(m); v >= low-1e-9 && v <= high+1e-9 {
				ticks = append(ticks, gonum.Tick{Value: v, Label: number(m * math.Pow(10, decade))})
			}
		}
	}
	return ticks
}

// alike reports whether two values differ by no more than rounding. Programs that do the same score 0.7 and
// 0.7000000000000001, and between the two there are no round numbers.
func alike(low, high float64) bool { return !(high-low > 1e-12*max(math.Abs(low), math.Abs(high))) }

// round returns about so many round numbers within [low, high], or low if the two are alike.
func round(low, high float64, wanted int) []float64 {
	if alike(low, high) {
		return []float64{low}
	}
	n := float64(wanted)
	step := math.Pow(10, math.Floor(math.Log10((high-low)/n)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*m) <= n+1.5 {
			step *= m
			break
		}
	}
	var at []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		at = append(at, i*step)
	}
	return at
}

// fewDigits is how many significant digits a label has, unless neighbours differ in later ones.
const fewDigits = 4

// digitsOf returns how many significant digits tell numbers in ascending order apart: as many as show each to a
// thousandth of the step between them.
func digitsOf(numbers []float64) int {
	digits := fewDigits
	for i, v := range numbers {
		step := math.Inf(1)
		if i > 0 {
			step = v - numbers[i-1]
		} else if len(numbers) > 1 {
			step = numbers[1] - v
		}
		for digits < 17 {
			shown, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
			if math.Abs(shown-v) <= step/1000 {
				break
			}
			digits++
		}
	}
	return digits
}

// number returns v as a label of few digits.
func number(v float64) string { return numberIn(v, fewDigits) }

// numberIn returns v as a label: short, with a real minus, and without what binary fractions leave behind.
func numberIn(v float64, digits int) string {
	if v == 0 {
		return "0" // and not the negative one
	}
	s := strconv.FormatFloat(v, 'g', digits, 64)
	if a := math.Abs(v); digits == fewDigits && a >= 1e4 && a < 1e6 {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	if m, e, found := strings.Cut(s, "e"); found {
		sign := strings.HasPrefix(e, "-")
		e = strings.TrimLeft(e, "+-0")
		if sign {
			e = "−" + e
		}
		s = m + "e" + e
	}
	if strings.HasPrefix(s, "-") {
		s = "−" + s[1:]
	}
	return s
}

// newPlot returns an empty plot in our fonts.
func newPlot(x, y string) *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = nil
	dress(&p.X, x)
	dress(&p.Y, y)
	return p
}

// dress gives an axis its label, and our fonts and sizes. How its texts are aligned stays as it is.
func dress(a *gonum.Axis, label string) {
	tick, name := words(tickSize), words(labelSize)
	tick.XAlign, tick.YAlign = a.Tick.Label.XAlign, a.Tick.Label.YAlign
	name.XAlign, name.YAlign = a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign
	a.Tick.Label, a.Label.TextStyle, a.Label.Text = tick, name, printable.Line(label)
	a.Label.Padding, a.Padding, a.Tick.Length = 2, 2, 3
	a.Color, a.Tick.Color = ink, ink
}

// span makes an axis reach from low to high on a scale, and some way beyond, so that nothing lies on its ends.
func span(a *gonum.Axis, s Scale, low, high, beyond float64) {
	a.Tick.Marker = ticker{s}
	low, high = widened(low, high)
	a.Min, a.Max = low-beyond*(high-low), high+beyond*(high-low)
}

// widened returns a range that can be seen: its own, or some way around values that are alike.
func widened(low, high float64) (from, to float64) {
	if !alike(low, high) {
		return low, high
	}
	around := max(0.5, 1e-3*math.Abs(low))
	return low - around, high + around
}

// painter draws one thing onto a plot, in order with the others.
type painter func(draw.Canvas, *gonum.Plot)

// Plot implements [gonum.Plotter].
func (f painter) Plot(c draw.Canvas, p *gonum.Plot) { f(c, p) }

// grid draws lines at the labelled ticks of the y axis, and of the x axis if both.
func grid(both bool) painter {
	return func(c draw.Canvas, p *gonum.Plot) {
		x, y := p.Transforms(&c)
		sty := draw.LineStyle{Color: faint, Width: vg.Points(0.4)}
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if t.Label != "" && c.ContainsY(y(t.Value)) {
				c.StrokeLine2(sty, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
			}
		}
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if both && t.Label != "" && c.ContainsX(x(t.Value)) {
				c.StrokeLine2(sty, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
			}
		}
	}
}
