package eval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

func ExampleSamples_MedianRange() {
	s := eval.Samples{N: 8, Scores: []float64{-9, 4, 5, 3, 4, 6, 5, 2}} // one run was disturbed
	low, high, chance, _ := s.MedianRange()
	fmt.Printf("%v to %v with a chance of %.3f\n", low, high, chance)
	// Output: 2 to 5 with a chance of 0.930
}

// The chance is that of the binomial law, worked out by counting the 2ⁿ ways in which samples fall below the median.
func TestMedianRangeByCounting(t *testing.T) {
	for n := range 15 {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = float64(i)
		}
		s := eval.Samples{N: n, Scores: scores}
		low, high, chance, ok := s.MedianRange()
		if ok != (n >= 5) {
			t.Errorf("of %d scores there is a range: %v", n, ok)
		}
		if !ok {
			continue
		}
		k := int(low) + 1
		holds := func(k int) float64 {
			hold := 0
			for ways := range 1 << n {
				below := 0
				for i := range n {
					below += ways >> i & 1
				}
				if below >= k && n-below >= k {
					hold++
				}
			}
			return float64(hold) / float64(int(1)<<n)
		}
		if math.Abs(chance-holds(k)) > 1e-12 || chance < 0.92 || holds(k+1) >= 0.92 && 2*k+1 < n || int(high) != n-k {
			t.Errorf("%d scores: %v to %v with a chance of %v, counted %v", n, low, high, chance, holds(k))
		}
	}
	var none *eval.Samples
	if _, _, _, ok := none.MedianRange(); ok {
		t.Error("a range without samples")
	}
	if _, _, _, ok := (&eval.Samples{N: 9, Scores: make([]float64, 9)}).MedianRange(); !ok {
		t.Error("no range of scores without noise")
	}
}

// The table of coverage: of 4000 programs scored eight times, the share whose median is in the range, and the share whose
// mean is in Student's interval, by the law of the noise. The standard deviation is 0.004 at 0.93 and 0.006 at 0.83.
func TestMedianRangeCovers(t *testing.T) {
	const programs, n = 4000, 8
	const student = 2.364624 // the 0.975 quantile of seven degrees of freedom
	for _, law := range []struct {
		name         string
		draw         func(r *rand.Rand) float64
		median, mean float64
		covered      float64 // by Student's interval
	}{
		{"normal", func(r *rand.Rand) float64 { return r.NormFloat64() }, 0, 0, 0.95},
		{"uniform", func(r *rand.Rand) float64 { return r.Float64() }, 0.5, 0.5, 0.94},
		{"log-normal", func(r *rand.Rand) float64 { return -math.Exp(r.NormFloat64()) }, -1, -math.Exp(0.5), 0.83},
	} {
		r := rand.New(rand.NewPCG(8, 8))
		inRange, inStudent := 0, 0
		for range programs {
			var results []eval.Result
			for range n {
				results = append(results, score(law.draw(r)))
			}
			p := eval.Pool(results...)
			low, high, _, _ := p.Samples.MedianRange()
			if low <= law.median && law.median <= high {
				inRange++
			}
			if se, _ := p.SE(); math.Abs(p.Score-law.mean) <= student*se {
				inStudent++
			}
		}
		of, by := float64(inRange)/programs, float64(inStudent)/programs
		if math.Abs(of-0.93) > 0.015 || math.Abs(by-law.covered) > 0.02 {
			t.Errorf("%s: the median is in %.3f of ranges, and the mean in %.3f of intervals; want 0.930 and %.2f", law.name, of,
				by, law.covered)
		}
		t.Logf("%s: median %.3f, mean %.3f", law.name, of, by)
	}
}

// The range of many samples is narrow, and no surer than that of few.
func TestMedianRangeOfMany(t *testing.T) {
	for _, n := range []int{1000, 1074, 1075, 5000} {
		s := &eval.Samples{N: n}
		for i := range n {
			s.Scores = append(s.Scores, float64(i))
		}
		low, high, chance, ok := s.MedianRange()
		wide := (high - low) / math.Sqrt(float64(n))
		if !ok || chance < 0.92 || chance > 0.95 || wide < 1.7 || wide > 1.9 {
			t.Errorf("%d samples: %v to %v with chance %v", n, low, high, chance)
		}
	}
}
