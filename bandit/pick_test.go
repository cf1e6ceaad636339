package bandit

import "testing"

func TestPick(t *testing.T) {
	for _, tt := range []struct {
		reason string
		p      []float64
		u      float64
		want   int
	}{
		{"the lowest quantile is not for an arm without mass", []float64{0, 0.5, 0.5}, 0, 1},
		{"just below a border", []float64{0.25, 0.75}, 0.25 - 1e-16, 0},
		{"on a border", []float64{0.25, 0.75}, 0.25, 1},
		{"no mass in between", []float64{0.25, 0, 0.75}, 0.25, 2},
		{"what is missing to 1 falls to the last arm with mass", []float64{0.5, 0.4999999, 0}, 0.99999999, 1},
	} {
		if got := pick(tt.p, tt.u); got != tt.want {
			t.Errorf("%s: pick(%v, %v) = %d, want %d", tt.reason, tt.p, tt.u, got, tt.want)
		}
	}
}
