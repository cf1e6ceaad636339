package plot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi is the resolution of PNG files: two pixels a point, as dense screens show them.
const dpi = 144

// A Figure is a drawing that can be written in several formats, as often as wanted. It is safe for concurrent use.
type Figure struct {
	w, h  vg.Length
	paint func(draw.Canvas)
}

// SVG writes the figure as SVG. Text stays text, set in Liberation Sans or the reader's font of the same widths.
func (f *Figure) SVG(w io.Writer) error {
	c := vgsvg.NewWith(vgsvg.UseWH(f.w, f.h))
	f.paint(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("plot: making the SVG: %w", err)
	}
	// The fonts after the first have the same widths, so text fits where Liberation is not installed.
	text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("plot: writing the SVG: %w", err)
	}
	return nil
}

func (f *Figure) png(w io.Writer, dpi int) error {
	c := vgimg.NewWith(vgimg.UseWH(f.w, f.h), vgimg.UseDPI(dpi))
	f.paint(draw.New(c))
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("plot: writing the PNG: %w", err)
	}
	return nil
}

// Save writes the figure to path in the format that its ending names, .svg or .png. A file that is there is
// replaced.
func (f *Figure) Save(path string) error {
	var b bytes.Buffer
	write := f.SVG
	switch ext := filepath.Ext(path); ext {
	case ".svg":
	case ".png":
		write = func(w io.Writer) error { return f.png(w, dpi) }
	default:
		return fmt.Errorf("plot: %s ends in %q, want .svg or .png", path, ext)
	}
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}
