package bandit_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestGaussianThompsonHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.GaussianThompson{} })
	bandittest.Run(t, func() bandit.Policy {
		return &bandit.GaussianThompson{Sigma: 1e-3, PriorMean: 1e6, PriorStrength: 1e-6}
	})
	bandittest.Run(t, func() bandit.Policy { return &bandit.GaussianThompson{Sigma: 1e150} })
}

// After rewards 0.5, 0.6 and 0.7 the posterior has mean (0.5 + 3·0.6)/4 = 0.575 and deviation
// 0.1/√4 = 0.05; an arm without outcomes has mean 0.5 and deviation 0.1. The first is larger with
// chance Φ(0.075/sqrt(0.05² + 0.1²)) = Φ(0.670820) = 0.748833.
func TestGaussianThompson(t *testing.T) {
	const better = 0.748832522819749
	for _, tt := range []struct {
		reason string
		p      bandit.GaussianThompson
		seen   [][]float64
		open   []bool
		want   []float64
	}{
		{"no outcome: even", bandit.GaussianThompson{}, [][]float64{{}, {}, {}}, all(3), []float64{1. / 3, 1. / 3, 1. / 3}},
		{"one arm tried", bandit.GaussianThompson{}, [][]float64{{0.5, 0.6, 0.7}, {}}, all(2), []float64{better, 1 - better}},
		{"a third arm is closed", bandit.GaussianThompson{}, [][]float64{{0.5, 0.6, 0.7}, {9}, {}}, []bool{true, false, true},
			[]float64{better, 0, 1 - better}},
		{"all in tenths of the units", bandit.GaussianThompson{Sigma: 1, PriorMean: 5}, [][]float64{{5, 6, 7}, {}}, all(2),
			[]float64{better, 1 - better}},
		{"a prior worth 4 and rewards four times as many", bandit.GaussianThompson{Sigma: 0.2, PriorStrength: 4},
			[][]float64{{0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6, 0.7, 0.7, 0.7, 0.7}, {}}, all(2),
			[]float64{better, 1 - better}},
		{"far ahead: the other has a chance of Φ(−2.4/sqrt(0.005+0.005)), which is nothing", bandit.GaussianThompson{},
			[][]float64{{5.3}, {0.5}}, all(2), []float64{1, 0}},
	} {
		for arm, xs := range tt.seen {
			for _, x := range xs {
				tt.p.Update(outcome(arm), x)
			}
		}
		if got := ask(&tt.p, tt.open); !near(got, tt.want, 1e-10) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// The policy's chances against draws from the posteriors, written out again: the share of samples
// that an arm wins is binomial; five standard deviations are allowed.
func TestGaussianThompsonMonteCarlo(t *testing.T) {
	const arms, samples = 6, 100_000
	rng := newRand(5)
	p, n, sum := &bandit.GaussianThompson{}, [arms]float64{}, [arms]float64{}
	for range 30 {
		arm, x := rng.IntN(arms-1), 0.5+0.1*rng.NormFloat64() // the last arm stays untried
		p.Update(outcome(arm), x)
		n[arm]++
		sum[arm] += x
	}
	var wins [arms]float64
	for range samples {
		best, at := math.Inf(-1), 0
		for arm := range arms {
			if x := (0.5+sum[arm])/(1+n[arm]) + 0.1/math.Sqrt(1+n[arm])*rng.NormFloat64(); x > best {
				best, at = x, arm
			}
		}
		wins[at]++
	}
	for arm, v := range ask(p, all(arms)) {
		if got, sd := wins[arm]/samples, math.Sqrt(v*(1-v)/samples); math.Abs(got-v) > 5*sd {
			t.Errorf("arm %d won %v of the samples, want %v ± %v", arm, got, v, 5*sd)
		}
	}
}

// With the noise it expects, gap Δ and n pulls, the worse arm should be pulled about 2σ²·ln n/Δ²
// times (T. L. Lai, H. Robbins, 1985): 3.5 for σ = 0.1, Δ = 0.2 and n = 1000. Ten times that is
// allowed to the mean of 40 runs, for the second-order terms; playing at random makes it 500.
func TestGaussianThompsonRegret(t *testing.T) {
	const rounds, runs, sigma, gap = 1000, 40, 0.1, 0.2
	normal := func(mean float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return mean + sigma*rng.NormFloat64() }
	}
	var pulls float64
	for seed := range uint64(runs) {
		pulls += float64(play(t, &bandit.GaussianThompson{}, rounds, seed,
			[]func(*rand.Rand) float64{normal(0.7), normal(0.7 - gap)})[1])
	}
	if mean, most := pulls/runs, 10*2*sigma*sigma*math.Log(rounds)/(gap*gap); mean > most {
		t.Errorf("the worse arm was pulled %v times on average, want at most %v", mean, most)
	}
}

// Deviations that are lost to rounding give an error, not a sweep without end.
func TestGaussianThompsonUnderflow(t *testing.T) {
	p := &bandit.GaussianThompson{Sigma: math.SmallestNonzeroFloat64, PriorStrength: 1e10}
	if pull, err := bandit.NewPlayer(p, 2, 1).Draw(all(2)); err == nil ||
		!strings.Contains(err.Error(), "probability NaN") {
		t.Errorf("%+v, error %v", pull, err)
	}
}

func TestGaussianThompsonParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.GaussianThompson
		names string
	}{
		{bandit.GaussianThompson{Sigma: -1}, "GaussianThompson.Sigma is -1"},
		{bandit.GaussianThompson{Sigma: math.Inf(1)}, "GaussianThompson.Sigma is +Inf"},
		{bandit.GaussianThompson{PriorMean: math.NaN()}, "GaussianThompson.PriorMean is NaN"},
		{bandit.GaussianThompson{PriorStrength: -0.1}, "GaussianThompson.PriorStrength is -0.1"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	full := &bandit.GaussianThompson{Sigma: 0.1, PriorMean: 0.5, PriorStrength: 1}
	if a, b := (&bandit.GaussianThompson{}).String(), full.String(); a != b ||
		a != "GaussianThompson(sigma=0.1, mean=0.5, strength=1)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}
