package plot_test

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

var update = flag.Bool("update", false, "write the golden files")

// A figure's SVG is the same to the byte, drawn twice and on another day.
func TestSVGGolden(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(samples())) {
		var got, again bytes.Buffer
		if err := draw(t, samples()[name]).SVG(&got); err != nil {
			t.Fatal(err)
		}
		if err := draw(t, samples()[name]).SVG(&again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), again.Bytes()) {
			t.Errorf("%s: drawn twice, it differs", name)
		}
		if want := golden(t, name+".svg", got.Bytes()); !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is not as in testdata; look at it, and run go test ./evolve/analysis/plot -update if it is meant", name)
		}
	}
}

// goldenDPI is small, to keep the files small: what is drawn, where and in what color is seen all the same.
const goldenDPI = 40

// A figure's PNG has the pixels that it had. Processors that fuse multiplications may round a corner otherwise, so a
// few pixels may differ a little.
func TestPNGGolden(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(samples())) {
		var b bytes.Buffer
		if err := draw(t, samples()[name]).PNGAt(&b, goldenDPI); err != nil {
			t.Fatal(err)
		}
		got, want := decode(t, b.Bytes()), decode(t, golden(t, name+".png", b.Bytes()))
		if got.Bounds() != want.Bounds() {
			t.Errorf("%s is %v large, was %v", name, got.Bounds(), want.Bounds())
			continue
		}
		if share := unlike(got, want); share > 0.002 {
			t.Errorf("%s: %.1f %% of the pixels are not as in testdata; look at it, and run go test ./evolve/analysis/plot -update if it is meant", name, 100*share)
		}
	}
}

// The comparison of pixels sees a line that is gone.
func TestUnlikeSeesALine(t *testing.T) {
	whole := samples()["regret"].(plot.Regret)
	fewer := whole
	fewer.Panels = []plot.Panel{{Lines: whole.Panels[0].Lines[:2]}}
	var a, b bytes.Buffer
	if err := draw(t, whole).PNGAt(&a, goldenDPI); err != nil {
		t.Fatal(err)
	}
	if err := draw(t, fewer).PNGAt(&b, goldenDPI); err != nil {
		t.Fatal(err)
	}
	if share := unlike(decode(t, a.Bytes()), decode(t, b.Bytes())); share < 0.01 {
		t.Errorf("a line of three is gone, and %.2f %% of the pixels differ", 100*share)
	}
}

// Save takes the format from the ending.
func TestSave(t *testing.T) {
	f := draw(t, samples()["surface_open"])
	dir := t.TempDir()
	for _, name := range []string{"a.svg", "a.png"} {
		if err := f.Save(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if svg := read(t, filepath.Join(dir, "a.svg")); !bytes.Equal(svg,
		read(t, filepath.Join("testdata", "surface_open.svg"))) {
		t.Error("the saved SVG is not the one that SVG writes")
	}
	small := decode(t, read(t, filepath.Join("testdata", "surface_open.png"))).Bounds()
	if large := decode(t, read(t, filepath.Join(dir, "a.png"))).Bounds(); large.Dx() < 3*small.Dx() {
		t.Errorf("the saved PNG is %v large, at %d dpi it is %v", large, goldenDPI, small)
	}
	for _, name := range []string{"a.pdf", "a", filepath.Join("none", "a.svg")} {
		if err := f.Save(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was saved", name)
		}
	}
}

func draw(t *testing.T, data drawer) *plot.Figure {
	t.Helper()
	f, err := data.Draw()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// golden returns the golden file, which -update writes first.
func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return read(t, path)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t *testing.T, b []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// unlike returns the share of pixels that differ by more than an eighth in a channel.
func unlike(a, b image.Image) float64 {
	r, n := a.Bounds(), 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			if far(ar, br) || far(ag, bg) || far(ab, bb) {
				n++
			}
		}
	}
	return float64(n) / float64(r.Dx()*r.Dy())
}

func far(a, b uint32) bool { return max(a, b)-min(a, b) > 0xFFFF/8 }
