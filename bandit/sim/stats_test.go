package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSummarizeByHand(t *testing.T) {
	for _, c := range []struct {
		why       string
		values    []float64
		mean, iqm float64
	}{
		{"one run", []float64{3}, 3, 3},
		{"three: nothing to leave out", []float64{1, 2, 6}, 3, 3},
		{"four: the smallest and the largest are left out", []float64{100, 2, 4, -6}, 25, 3},
		{"nine: two at either end", []float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 5},
		{"an outlier moves the mean alone", []float64{1, 1, 1, 1, 1, 1, 1, 801}, 101, 1},
	} {
		s := Summarize(c.values)
		if s.Runs != len(c.values) || s.Mean.Value != c.mean || s.IQM.Value != c.iqm {
			t.Errorf("%s: %+v, want mean %v and interquartile mean %v", c.why, s, c.mean, c.iqm)
		}
		for _, i := range []Interval{s.Mean, s.IQM} {
			if !(i.Low <= i.Value && i.Value <= i.High) {
				t.Errorf("%s: %v is not within its interval", c.why, i)
			}
		}
	}
	if s := Summarize(nil); s.Runs != 0 || !math.IsNaN(s.Mean.Value) || !math.IsNaN(s.IQM.High) {
		t.Errorf("no run: %+v", s)
	}
}

// The mean is that of all runs together. Strata that do not vary within give an interval of no width.
func TestSummarizeAll(t *testing.T) {
	s := SummarizeAll([][]float64{{1, 1, 1}, {5, 5, 5}, nil})
	if want := (Interval{3, 3, 3}); s.Runs != 6 || s.Mean != want || s.IQM.Value != 3 {
		t.Errorf("constant strata: %+v", s)
	}
	apart, together := SummarizeAll([][]float64{{1, 2, 1}, {5, 6, 5}}), Summarize([]float64{1, 2, 1, 5, 6, 5})
	if apart.Mean.Value != together.Mean.Value || apart.Mean.High-apart.Mean.Low >= together.Mean.High-together.Mean.Low {
		t.Errorf("in strata %v, together %v: want the same mean, and a narrower interval", apart.Mean, together.Mean)
	}
}

// A sample by counts has the trimmed mean of the sample written out.
func TestTrimmedSample(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		n := 1 + r.IntN(12)
		sorted, counts := make([]float64, n), make([]int, n)
		for i := range sorted {
			sorted[i] = float64(r.IntN(5))
			counts[r.IntN(n)]++
		}
		slices.Sort(sorted)
		var sample []float64
		for i, c := range counts {
			sample = append(sample, slices.Repeat(sorted[i:i+1], c)...)
		}
		for cut := 0; 2*cut < n; cut++ {
			var sum float64
			for _, v := range sample[cut : n-cut] {
				sum += v
			}
			if got, want := trimmed(sorted, counts, cut), sum/float64(n-2*cut); math.Abs(got-want) > 1e-12 {
				t.Fatalf("%v of %v without %d: %v, want %v", counts, sorted, cut, got, want)
			}
		}
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
		if i := Summarize(values).Mean; i.Low <= 1 && 1 <= i.High {
			n++
		}
	}
	if share := float64(n) / 200; share < 0.87 || share > 0.99 {
		t.Errorf("%.3f of the intervals hold the mean", share)
	}
}

func TestReliableByHand(t *testing.T) {
	tens := []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}
	for _, c := range []struct {
		why   string
		first []int
		share float64
		want  int
	}{
		{"nine of ten", tens, 0.9, 90},
		{"all of ten", tens, 1, 100},
		{"0.3 is not a whole float64: three of ten", tens, 0.3, 30},
		{"one in a hundred: one of ten at the least", tens, 0.01, 10},
		{"one run in ten may fail", []int{5, NotReached, 3, 3, 3, 3, 3, 3, 3, 3}, 0.9, 5},
		{"two may not", []int{5, NotReached, NotReached, 3, 3, 3, 3, 3, 3, 3}, 0.9, NotReached},
		{"from the start", []int{0, 0}, 0.9, 0},
		{"never", []int{NotReached}, 0.9, NotReached},
	} {
		if got := reliable(c.first, c.share); got != c.want {
			t.Errorf("%s: %d, want %d", c.why, got, c.want)
		}
	}
}

func TestReliablePanics(t *testing.T) {
	for _, c := range []struct {
		why   string
		first []int
		share float64
	}{{"no runs", nil, 0.9}, {"no share", []int{1}, 0}, {"more than all", []int{1}, 1.1}, {"NaN", []int{1}, math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", c.why)
				}
			}()
			reliable(c.first, c.share)
		}()
	}
}

// The level of a share is reached by that share of the runs, and no higher score is.
func TestReliableLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		scores := make([]float64, 1+r.IntN(30))
		for i := range scores {
			scores[i] = float64(r.IntN(10))
		}
		level := reliableLevel(scores, 0.9)
		at, above := 0, 0
		for _, s := range scores {
			if s >= level {
				at++
			}
			if s > level {
				above++
			}
		}
		if n := float64(len(scores)); float64(at) < 0.9*n || float64(above) >= 0.9*n {
			t.Fatalf("%v: %v is reached by %d and passed by %d", scores, level, at, above)
		}
	}
}

func TestFirst(t *testing.T) {
	best := []float64{0.1, 0.1, 0.4, 0.9}
	for level, want := range map[float64]int{0: 0, 0.1: 0, 0.2: 2, 0.4: 2, 0.9: 3, 0.95: NotReached} {
		if got := newCourse(best).First(level); got != want {
			t.Errorf("level %v at %d, want %d", level, got, want)
		}
	}
}

// Of 101 samples, of which 96 lie within 5 of the estimate, 95 % lie within 5: type 7 puts the quantile at the 96th.
func TestSymmetric(t *testing.T) {
	samples := []float64{2, 2, 2, 2, 102} // off by 8, and by 92
	for i := range 96 {
		samples = append(samples, 10+5*float64(i)/95)
	}
	if low, high := symmetric(samples, 10); low != 5 || high != 15 {
		t.Errorf("[%v, %v], want [5, 15]", low, high)
	}
	if low, high := symmetric(nil, 3); low != 3 || high != 3 {
		t.Errorf("without samples [%v, %v]", low, high)
	}
}
