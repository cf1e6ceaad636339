package paper

import (
	"math"
	"testing"
)

// Values of known tables, whose last digit shows that they are rounded once. Python gives the same.
func TestExactValues(t *testing.T) {
	for _, c := range []struct {
		why       string
		got, want float64
	}{
		{"ln 1 is nothing", logE(1), 0},
		{"ln 2", logE(2), math.Ln2},
		{"ln 10", logE(10), math.Ln10},
		{"next to 1 the series must not cancel", logE(1 - 0x1p-53), -0x1p-53},
		{"the smallest random() of a pair", logE(0x1p-53), -53 * math.Ln2},
		{"e", expE(1), math.E},
		{"too large", expE(1e6), math.Inf(1)},
		{"just too large", expE(710), math.Inf(1)},
		{"too small", expE(-1e6), 0},
		{"sin 0", sinE(0), 0},
		{"cos 0", cosE(0), 1},
		{"sin of the float64 next to π is what π's digits go on with", sinE(math.Pi), 1.2246467991473532e-16},
		{"cos of the float64 next to π/2", cosE(math.Pi / 2), 6.123233995736766e-17},
		{"cos of the float64 next to 3π/2", cosE(3 * math.Pi / 2), -1.8369701987210297e-16},
		{"sin 2π", sinE(2 * math.Pi), -2.4492935982947064e-16},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.why, c.got, c.want)
		}
	}
}

// Everywhere else they are package math's to within the two ulps that it may be off by.
func TestExactIsNearMath(t *testing.T) {
	r := NewRandom(11)
	for range 300 {
		u := r.Float64()
		x := u * 2 * math.Pi
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"log", logE(1 - u), math.Log(1 - u)},
			{"exp", expE(20*u - 10), math.Exp(20*u - 10)},
			{"sin", sinE(x), math.Sin(x)},
			{"cos", cosE(x), math.Cos(x)},
		} {
			if math.Abs(c.got-c.want) > 0x1p-51*math.Abs(c.want) {
				t.Errorf("%s at %v, %v: %v, package math has %v", c.name, u, x, c.got, c.want)
			}
		}
	}
}
