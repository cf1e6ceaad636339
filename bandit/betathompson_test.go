package bandit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestBetaThompsonHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.BetaThompson{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.BetaThompson{Discount: 1, Prior: -1} })
}

// An arm without outcomes has Beta(½, 1), whose distribution function is √x, and one with a gain Beta(3/2, 1), whose is
// x^(3/2). The second draw is larger with chance ∫ √x·(3/2)·√x dx = 3/4. At twice the cost of a call its half is larger
// than the first with chance ∫ √(x/2)·(3/2)·√x dx = 3/(4√2).
func TestBetaThompson(t *testing.T) {
	p := &bandit.BetaThompson{Discount: 1, Prior: -1}
	p.Update(outcome(1), 1)
	for _, tt := range []struct {
		costs []float64
		want  float64
	}{{nil, 0.75}, {[]float64{1, 2}, 0.75 / math.Sqrt2}, {[]float64{1, 1e6}, 0.75e-3}} {
		got := make([]float64, 2)
		p.Probs(got, bandit.Round{Open: all(2), Pending: make([]int, 2), Costs: tt.costs})
		if !near(got, []float64{1 - tt.want, tt.want}, 1e-6) {
			t.Errorf("costs %v: %v, want %v", tt.costs, got, tt.want)
		}
	}
}

// The chances against sums of the definition's integral in 200,000 steps, at even and at uneven costs, after few
// outcomes and after many.
func TestBetaThompsonIntegral(t *testing.T) {
	for _, tt := range []struct {
		rates, costs []float64
		each         int
		discount     float64
		prior        float64
	}{
		{[]float64{0, 0.1, 0.3, 0.3, 1}, []float64{1, 1, 1, 1, 1}, 3, 0.995, 20},
		{[]float64{0.02, 0.03, 0.05, 0}, []float64{1, 4, 8, 1}, 100, 0.995, 20},
		{[]float64{0.02, 0.03, 0.05, 0}, []float64{1, 4, 8, 1}, 100, 0.995, -1},
		{[]float64{1, 0.5, 0}, []float64{1.5, 1, 30}, 20, 0.9, 3},
		{[]float64{0.2, 0.21}, []float64{1, 1}, 5000, 1, -1},
	} {
		p := &bandit.BetaThompson{Discount: tt.discount, Prior: tt.prior}
		n, wins := make([]float64, len(tt.rates)), make([]float64, len(tt.rates))
		for k := range tt.each {
			for arm, rate := range tt.rates {
				gain := math.Floor(float64(k+1)*rate) - math.Floor(float64(k)*rate)
				p.Update(outcome(arm), gain)
				for i := range n {
					n[i], wins[i] = n[i]*tt.discount, wins[i]*tt.discount
				}
				n[arm], wins[arm] = n[arm]+1, wins[arm]+gain
			}
		}
		got, want := make([]float64, len(n)), make([]float64, len(n))
		k, rate := max(0, tt.prior), (floats.Sum(wins)+0.5)/(floats.Sum(n)+1.5)
		beta := func(i int) distuv.Beta {
			return distuv.Beta{Alpha: wins[i] + max(0.5, k*rate), Beta: n[i] - wins[i] + max(1, k*(1-rate))}
		}
		p.Probs(got, bandit.Round{Open: all(len(n)), Pending: make([]int, len(n)), Costs: tt.costs})
		const steps = 200_000
		for i := range want {
			of := beta(i)
			for at := range steps {
				s, c := math.Sincos((float64(at) + 0.5) / steps * math.Pi / 2)
				density := of.Prob(s*s) * 2 * s * c * math.Pi / 2 / steps
				for j := range n {
					if j != i {
						density *= beta(j).CDF(min(1, s*s*tt.costs[j]/tt.costs[i]))
					}
				}
				want[i] += density
			}
		}
		if !near(got, want, 1e-6) {
			t.Errorf("rates %v at costs %v: %v, want %v", tt.rates, tt.costs, got, want)
		}
	}
}

func TestBetaThompsonParameters(t *testing.T) {
	for _, d := range []float64{-0.1, 1.1, math.NaN()} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, "BetaThompson.Discount is") {
					t.Errorf("discount %v: %s", d, said)
				}
			}()
			ask(&bandit.BetaThompson{Discount: d}, all(2))
		}()
	}
	if s := (&bandit.BetaThompson{}).String(); s != "BetaThompson(discount=0.995, prior=20)" {
		t.Error(s)
	}
}

func BenchmarkBetaThompson(b *testing.B) {
	for _, arms := range []int{3, 10, 100} {
		p, probs := &bandit.BetaThompson{}, make([]float64, arms)
		for i := range 2000 {
			p.Update(outcome(i%arms), float64(i%7/6))
		}
		r := bandit.Round{Open: all(arms), Pending: make([]int, arms)}
		b.Run(fmt.Sprint(arms), func(b *testing.B) {
			for b.Loop() {
				p.Probs(probs, r)
			}
		})
	}
}
