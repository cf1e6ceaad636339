package analysis

import (
	"math"
	"testing"
)

// The best split and what is within a tenth of it, against every depth of a fine grid.
func TestSplitAgainstAllDepths(t *testing.T) {
	for _, c := range []struct {
		reason string
		s      Surface
		pieces int
	}{
		{"inside", Surface{A: -0.28, B: -0.18, C: -0.05}, 1},
		{"depth alone", Surface{A: -0.5, B: -0.1, C: -0.02}, 1},
		{"breadth alone", Surface{A: -0.1, B: -0.5, C: -0.02}, 1},
		{"no product: a plane", Surface{A: -0.3, B: -0.1}, 1},
		{"flat", Surface{}, 1},
		{"the ends are best, and alike", Surface{A: -0.3, B: -0.3, C: 0.04}, 2},
		{"the ends are best, the deep one better", Surface{A: -0.31, B: -0.3, C: 0.04}, 2},
		{"the ends are best, the broad one better", Surface{A: -0.3, B: -0.31, C: 0.04}, 2},
		{"the deep end is far better", Surface{A: -0.5, B: -0.3, C: 0.04}, 1},
		{"a rise too low to leave a tenth", Surface{A: -0.3, B: -0.3, C: 0.001}, 1},
	} {
		const calls, delta, steps = 512.0, 0.1, 20000
		got := c.s.Split(calls, delta)
		if len(got.Within) != c.pieces {
			t.Errorf("%s: within %v, want %d pieces", c.reason, got.Within, c.pieces)
		}
		l := math.Log(calls)
		for i := range steps + 1 {
			depth := math.Exp(l * float64(i) / steps)
			y := c.s.At(depth, calls/depth)
			if y < got.LogGap-1e-12 {
				t.Fatalf("%s: T=%v has %v, T=%v is said to have the least, %v", c.reason, depth, y, got.T, got.LogGap)
			}
			in := false
			for _, w := range got.Within {
				in = in || w[0] <= depth*(1+1e-12) && depth <= w[1]*(1+1e-12)
			}
			if over := y - got.LogGap - math.Log1p(delta); math.Abs(over) > 1e-9 && in != (over < 0) {
				t.Fatalf("%s: T=%v is within a tenth: %v, but %v says %v", c.reason, depth, over < 0, got.Within, in)
			}
		}
	}
}

func TestSplitOfOneCall(t *testing.T) {
	got := Surface{A: -0.3, B: -0.2, C: -0.04}.Split(1, 0.1)
	if got.T != 1 || got.N != 1 || got.Interior || len(got.Within) != 1 || got.Within[0] != [2]float64{1, 1} {
		t.Errorf("%+v", got)
	}
}

func TestSplitPanics(t *testing.T) {
	for _, c := range [][2]float64{{0.5, 0.1}, {8, 0}, {math.Inf(1), 0.1}, {math.NaN(), 0.1}, {8, math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Split(%v) is taken", c)
				}
			}()
			Surface{}.Split(c[0], c[1])
		}()
	}
}
