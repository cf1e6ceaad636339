package main

import (
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"strings"
)

// Plots are written by hand: two kinds of grid need some hundred lines, and a plotting library would bring
// a dozen modules for fonts and formats.

// panel is one plot of a grid.
type panel struct {
	title  string
	curves []curve
}

// curve is a policy's course over t = 0, 1, ...; low and high are the ends of a band around it, or nil.
type curve struct {
	name         string
	y, low, high []float64
}

const (
	columns           = 4
	panelW, panelH    = 260.0, 190.0
	left, right       = 40.0, 10.0 // margins of a panel
	top, bottom       = 22.0, 24.0
	legendH           = 52.0
	mostPoints        = 120 // of a curve; more would not be seen
	wantedTicks       = 4
	textStyle         = `font-family="sans-serif" font-size="11"`
	axisColor, faint  = "#444", "#ddd"
	bandOpacity       = "0.13"
	lineWidth         = "1.5"
	legendPerLine     = 8
	legendLineH       = 16.0
	legendEntryW      = 128.0
	legendSwatchWidth = 18.0
)

// colors are told apart by people of all kinds of color vision (Okabe and Ito, 2008). From the ninth curve
// on they come again with dashes.
var colors = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933"}

func stroke(i int) string {
	s := fmt.Sprintf(`stroke="%s" stroke-width="%s" fill="none"`, colors[i%len(colors)], lineWidth)
	if dash := i / len(colors); dash > 0 {
		s += fmt.Sprintf(` stroke-dasharray="%d 3"`, 2+3*dash)
	}
	return s
}

// writeSVG writes a grid of panels that have the same curves, with one legend.
func writeSVG(path, title string, panels []panel) error {
	var b strings.Builder
	drawGrid(&b, title, panels)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func drawGrid(w io.Writer, title string, panels []panel) {
	names := panels[0].curves
	head := legendH + legendLineH*float64((len(names)-1)/legendPerLine)
	rows := (len(panels) + columns - 1) / columns
	width, height := columns*panelW, head+float64(rows)*panelH
	width = max(width, legendPerLine*legendEntryW)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" %s>`+"\n", width, height, width, height, textStyle)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" fill="white"/><text x="10" y="18" font-size="13">%s</text>`+"\n", html.EscapeString(title))
	for i, c := range names {
		x, y := 10+legendEntryW*float64(i%legendPerLine), 36+legendLineH*float64(i/legendPerLine)
		fmt.Fprintf(w, `<path d="M%g %gh%g" %s/><text x="%g" y="%g">%s</text>`+"\n", x, y-4, legendSwatchWidth, stroke(i), x+legendSwatchWidth+4, y, html.EscapeString(c.name))
	}
	for i, p := range panels {
		fmt.Fprintf(w, `<g transform="translate(%g %g)">`+"\n", panelW*float64(i%columns), head+panelH*float64(i/columns))
		p.draw(w)
		fmt.Fprintln(w, "</g>")
	}
	fmt.Fprintln(w, "</svg>")
}

// draw draws the panel with its corner at the origin.
func (p panel) draw(w io.Writer) {
	f := p.frame()
	fmt.Fprintf(w, `<text x="%g" y="14" font-weight="bold">%s</text>`+"\n", left, html.EscapeString(p.title))
	for _, v := range ticks(f.lo, f.hi) {
		fmt.Fprintf(w, `<path d="M%g %.1fH%g" stroke="%s"/><text x="%g" y="%.1f" text-anchor="end" fill="%s">%g</text>`+"\n",
			left, f.y(v), panelW-right, faint, left-4, f.y(v)+4, axisColor, v)
	}
	for _, v := range ticks(0, f.last) {
		fmt.Fprintf(w, `<text x="%.1f" y="%g" text-anchor="middle" fill="%s">%g</text>`+"\n", f.x(v), panelH-bottom+14, axisColor, v)
	}
	fmt.Fprintf(w, `<path d="M%g %gV%gH%g" stroke="%s" fill="none"/>`+"\n", left, top, panelH-bottom, panelW-right, axisColor)
	for i, c := range p.curves {
		if c.low != nil {
			fmt.Fprintf(w, `<path d="M%sL%sZ" fill="%s" fill-opacity="%s"/>`+"\n", f.points(c.low, false), f.points(c.high, true), colors[i%len(colors)], bandOpacity)
		}
	}
	for i, c := range p.curves {
		fmt.Fprintf(w, `<path d="M%s" %s/>`+"\n", f.points(c.y, false), stroke(i))
	}
}

// frame maps data to a panel.
type frame struct{ last, lo, hi float64 }

func (p panel) frame() frame {
	f := frame{last: 1, lo: math.Inf(1), hi: math.Inf(-1)}
	for _, c := range p.curves {
		f.last = max(f.last, float64(len(c.y)-1))
		for _, list := range [][]float64{c.y, c.low, c.high} {
			for _, v := range list {
				f.lo, f.hi = min(f.lo, v), max(f.hi, v)
			}
		}
	}
	if !(f.hi > f.lo) {
		f.lo, f.hi = f.lo-0.5, f.lo+0.5
	}
	return f
}

func (f frame) x(t float64) float64 { return left + (panelW-left-right)*t/f.last }

func (f frame) y(v float64) float64 {
	return panelH - bottom - (panelH-top-bottom)*(v-f.lo)/(f.hi-f.lo)
}

// points are the coordinates of a curve, thinned out, from the last to the first if back.
func (f frame) points(y []float64, back bool) string {
	step := 1 + (len(y)-1)/mostPoints
	var at []int
	for t := 0; t < len(y)-1; t += step {
		at = append(at, t)
	}
	at = append(at, len(y)-1)
	var b strings.Builder
	for i := range at {
		t := at[i]
		if back {
			t = at[len(at)-1-i]
		}
		fmt.Fprintf(&b, " %.1f %.1f", f.x(float64(t)), f.y(y[t]))
	}
	return b.String()[1:]
}

// ticks returns some round numbers within [lo, hi].
func ticks(lo, hi float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/wantedTicks)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*m) <= wantedTicks+1.5 {
			step *= m
			break
		}
	}
	var at []float64
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		at = append(at, math.Round(i*step*1e9)/1e9)
	}
	return at
}
