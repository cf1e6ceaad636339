package bootstrap

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		why    string
		sorted []float64
		q      float64
		want   float64
	}{
		{"the median of two is between them", []float64{1, 2}, 0.5, 1.5},
		{"the ends are the ends", []float64{1, 2, 9}, 1, 9},
		{"one value", []float64{4}, 0.9, 4},
		{"a quarter of the way from the second to the third", []float64{0, 10, 20, 30}, 1.25 / 3, 12.5},
		{"between infinities there is no NaN", []float64{1, inf, inf}, 0.75, inf},
		{"a value beside an infinity", []float64{-inf, 1, inf}, 0.5, 1},
		{"from a value to an infinity", []float64{-inf, 1, inf}, 0.75, inf},
	} {
		if got := Quantile(c.sorted, c.q); !(got == c.want || math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	if low, high := Percentiles([]float64{4, 0, 3, 1, 2}, 0.5); low != 1 || high != 3 {
		t.Errorf("the middle half of 0 to 4 is [%v, %v], want [1, 3]", low, high)
	}
	for _, v := range [][]float64{nil, {1, math.NaN()}} {
		if low, high := Percentiles(v, 0.95); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("of %v there are [%v, %v]", v, low, high)
		}
	}
}

// A plan draws the same samples each time, of each stratum alone, and as often as members are equally likely.
func TestEach(t *testing.T) {
	plan := func() Plan { return Plan{Samples: 3000, Fewer: 1, Rand: Same(rand.New(rand.NewPCG(1, 2)))} }
	var all [][][]int
	counts := make([]int, 4)
	plan().Each([]int{4, 2}, func(i int, draw [][]int) {
		if i != len(all) || len(draw[0]) != 3 || len(draw[1]) != 1 || draw[1][0] > 1 {
			t.Fatalf("sample %d of %d: %v", i, len(all), draw)
		}
		all = append(all, [][]int{slices.Clone(draw[0]), slices.Clone(draw[1])})
		for _, j := range draw[0] {
			counts[j]++
		}
	})
	plan().Each([]int{4, 2}, func(i int, draw [][]int) {
		if !reflect.DeepEqual(draw, all[i]) {
			t.Fatalf("sample %d is %v and then %v", i, all[i], draw)
		}
	})
	for j, n := range counts { // of 9000, a quarter each, with a standard deviation of 41
		if n < 2250-4*41 || n > 2250+4*41 {
			t.Errorf("member %d is drawn %d times of 9000", j, n)
		}
	}
}
