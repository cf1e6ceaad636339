package plot_test

import (
	"image/color"
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// In grey, any two colors differ, and all differ from the paper.
func TestColorsDifferInGrey(t *testing.T) {
	colors := plot.Colors()
	for i, a := range colors {
		if l := plot.Lightness(a); l > 66 {
			t.Errorf("color %d has a lightness of %.0f: it would be faint on white", i, l)
		}
		for j, b := range colors[:i] {
			if d := math.Abs(plot.Lightness(a) - plot.Lightness(b)); d < plot.LeastApart {
				t.Errorf("colors %d and %d differ by %.1f in lightness, want %v at least", j, i, d, plot.LeastApart)
			}
		}
		if i > 0 {
			if d := math.Abs(plot.Lightness(a) - plot.Lightness(colors[i-1])); d < 25 {
				t.Errorf("colors %d and %d are neighbours and differ by %.1f in lightness, want 25 at least", i-1, i, d)
			}
		}
	}
}

// Lightness is CIE's: worked out by hand for sRGB white, black, mid grey and pure red (Y = 0.2126).
func TestLightness(t *testing.T) {
	for _, c := range []struct {
		color color.NRGBA
		want  float64
	}{
		{color.NRGBA{255, 255, 255, 255}, 100},
		{color.NRGBA{0, 0, 0, 255}, 0},
		{color.NRGBA{119, 119, 119, 255}, 50.03},
		{color.NRGBA{255, 0, 0, 255}, 53.23},
	} {
		if got := plot.Lightness(c.color); math.Abs(got-c.want) > 0.02 {
			t.Errorf("%v: %.2f, want %.2f", c.color, got, c.want)
		}
	}
}

// To eyes without one of the two long-wave cones, as Viénot, Brettel and Mollon (1999) simulate them, any two colors
// differ by at least 20 in CIELAB, where 2.3 can just be noticed.
func TestColorsDifferToColorBlindEyes(t *testing.T) {
	for name, sees := range map[string][3][3]float64{
		"all cones":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia": {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"deutan":     {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	} {
		colors := plot.Colors()
		for i, a := range colors {
			for j, b := range colors[:i] {
				if d := distance(lab(sees, a), lab(sees, b)); d < 20 {
					t.Errorf("%s: colors %d and %d differ by %.1f", name, j, i, d)
				}
			}
		}
	}
}

// lab returns the CIELAB coordinates (D65) of a color as eyes see it: a matrix over linear RGB.
func lab(eyes [3][3]float64, c color.NRGBA) [3]float64 {
	in := [3]float64{plot.Linearized(c.R), plot.Linearized(c.G), plot.Linearized(c.B)}
	var seen [3]float64
	for i := range seen {
		for j := range in {
			seen[i] += eyes[i][j] * in[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	x := (0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047
	y := 0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2]
	z := (0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	return [3]float64{116*f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))}
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

// The ramp of a surface gets darker all the way, begins darker than paper and ends lighter than ink.
func TestRampFallsInGrey(t *testing.T) {
	last := 95.0
	for i := range 101 {
		l := plot.Lightness(plot.Ramp(float64(i) / 100))
		if l >= last {
			t.Errorf("at %d %% the lightness is %.1f after %.1f", i, l, last)
		}
		last = l
	}
	if last < 20 {
		t.Errorf("the ramp ends at a lightness of %.1f", last)
	}
}

// Two hundred lines have styles of their own.
func TestStylesDiffer(t *testing.T) {
	seen := map[[3]any]int{}
	for i := range 210 {
		s := plot.Look(i)
		if first, known := seen[s]; known {
			t.Fatalf("lines %d and %d look alike", first, i)
		}
		seen[s] = i
	}
}
