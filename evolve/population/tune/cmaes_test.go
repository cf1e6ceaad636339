package tune_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/population/tune"
)

// lowest minimizes f with at most n points, and returns the lowest value.
func lowest(dim, n int, f func(x []float64) float64) float64 {
	best := math.Inf(1)
	tune.Minimize(dim, rand.New(rand.NewPCG(1, 2)), func(points [][]float64) ([]float64, bool) {
		if n -= len(points); n < 0 {
			return nil, false
		}
		costs := make([]float64, len(points))
		for i, p := range points {
			costs[i] = f(p)
			best = min(best, costs[i])
		}
		return costs, true
	})
	return best
}

func TestMinimize(t *testing.T) {
	shifted := func(x []float64) (sum float64) {
		for i, v := range x {
			d := v - 0.7*float64(i%3)
			sum += float64(1+i) * d * d
		}
		return sum
	}
	cliff := func(x []float64) float64 {
		if x[0] > 0.8 {
			return math.Inf(1)
		}
		return shifted(x)
	}
	for _, tt := range []struct {
		dim, n int
		f      func([]float64) float64
		most   float64
		reason string
	}{
		{1, 100, shifted, 1e-3, "one number"},
		{4, 600, shifted, 1e-6, "a few"},
		{4, 600, cliff, 1e-6, "points that are not allowed"},
		{30, 8000, shifted, 1e-2, "many"},
	} {
		if got := lowest(tt.dim, tt.n, tt.f); !(got <= tt.most) {
			t.Errorf("%d dimensions, %d points: %v, want at most %v: %s", tt.dim, tt.n, got, tt.most, tt.reason)
		}
	}
}

// A cost that is the same everywhere, or allowed nowhere, ends with the budget and not before a loop without end.
func TestMinimizeOnFlatGround(t *testing.T) {
	for i, f := range []float64{0, 0, math.Inf(1), math.Inf(1)} {
		dim, asked := 1+63*(i%2), 0
		if lowest(dim, 2000, func([]float64) float64 { asked++; return f }); asked < 20 {
			t.Errorf("%d dimensions, at %v everywhere: ends after %d of 2000 points", dim, f, asked)
		}
	}
}
