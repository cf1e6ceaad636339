package sim

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMeanByHand(t *testing.T) {
	for _, c := range []struct {
		why    string
		strata [][]float64
		want   float64
		exact  bool // the interval has no width
	}{
		{"one run", [][]float64{{3}}, 3, true},
		{"three", [][]float64{{1, 2, 6}}, 3, false},
		{"strata count by their runs, and constant ones give no width", [][]float64{{1, 1, 1}, {5, 5, 5}, nil}, 3, true},
	} {
		got := Mean(c.strata...)
		if got.Value != c.want || !(got.Low <= c.want && c.want <= got.High) || (got.Low == got.High) != c.exact {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
	if got := Mean(); !math.IsNaN(got.Value) || !math.IsNaN(got.High) {
		t.Errorf("no run: %v", got)
	}
	apart, together := Mean([]float64{1, 2, 1}, []float64{5, 6, 5}), Mean([]float64{1, 2, 1, 5, 6, 5})
	if apart.Value != together.Value || apart.High-apart.Low >= together.High-together.Low {
		t.Errorf("in strata %v, together %v: want the same mean, and a narrower interval", apart, together)
	}
}

// Of 200 samples of 40 exponential values, the intervals of about 95 % hold the true mean: the bootstrap of
// so few is known to fall a little short, and the standard deviation of the share is 0.015.
func TestIntervalsCover(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	n := 0
	for range 200 {
		values := make([]float64, 40)
		for i := range values {
			values[i] = r.ExpFloat64()
		}
		if i := Mean(values); i.Low <= 1 && 1 <= i.High {
			n++
		}
	}
	if share := float64(n) / 200; share < 0.87 || share > 0.99 {
		t.Errorf("%.3f of the intervals hold the mean", share)
	}
}
