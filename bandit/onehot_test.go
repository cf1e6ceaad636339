package bandit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

func TestOneHot(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		reason string
		index  []float64
		closed []int
		want   int
	}{
		{"the largest", []float64{1, 3, 2}, nil, 1},
		{"ties go to the lowest arm", []float64{1, 3, 3}, nil, 1},
		{"a closed arm does not count", []float64{1, 3, 2}, []int{1}, 2},
		{"nor as the lowest of a tie", []float64{3, 3, 3}, []int{0}, 1},
		{"+Inf comes first", []float64{math.MaxFloat64, inf, inf}, nil, 1},
		{"negative indices", []float64{-3, -1, -2}, nil, 1},
		{"NaN is not larger than anything", []float64{nan, -1e300, nan}, nil, 1},
		{"nor does it hide what follows", []float64{1, nan, 2}, nil, 2},
		{"all NaN: the lowest open arm", []float64{nan, nan, nan}, []int{0}, 1},
		{"all -Inf: the lowest open arm", []float64{-inf, -inf, -inf}, []int{0}, 1},
		{"the only arm", []float64{0}, nil, 0},
	} {
		open := all(len(tt.index))
		for _, arm := range tt.closed {
			open[arm] = false
		}
		p := slices.Repeat([]float64{0.5}, len(open)) // what stood there is overwritten
		bandit.OneHot(p, open, func(arm int) float64 {
			if !open[arm] {
				t.Errorf("%s: asked for the index of closed arm %d", tt.reason, arm)
			}
			return tt.index[arm]
		})
		want := make([]float64, len(open))
		want[tt.want] = 1
		if !slices.Equal(p, want) {
			t.Errorf("%s: %v, want %v", tt.reason, p, want)
		}
	}
}
