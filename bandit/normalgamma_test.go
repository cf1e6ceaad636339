package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestNormalGammaHolds(t *testing.T) {
	t.Parallel()
	bandittest.Run(t, func() bandit.Policy { return &bandit.NormalGamma{} })
	bandittest.Run(t, func() bandit.Policy {
		return &bandit.NormalGamma{PriorMean: 1e6, PriorStrength: 1e-6, Shape: 0.5, Rate: 1e-12}
	})
}

// After rewards 0.5, 0.6 and 0.7, κ = 4, m = (0.5 + 1.8)/4 = 0.575, α = 2.5 and β = 0.01 + 0.02/2 +
// 3·0.01/8 = 0.02375, so the arm's mean is 0.575 + sqrt(0.02375/10)·t of 5 degrees of freedom, and that of
// an untried arm 0.5 + 0.1·t of 2. The first is larger with chance 0.705513, by quadrature with twenty
// digits.
func TestNormalGamma(t *testing.T) {
	const better, other = 0.7055128147436487, 0.8136219522564398
	for _, tt := range []struct {
		reason string
		p      bandit.NormalGamma
		seen   [][]float64
		open   []bool
		want   []float64
	}{
		{"no outcome: even", bandit.NormalGamma{}, [][]float64{{}, {}, {}}, all(3), []float64{1. / 3, 1. / 3, 1. / 3}},
		{"one arm tried", bandit.NormalGamma{}, [][]float64{{0.5, 0.6, 0.7}, {}}, all(2), []float64{better, 1 - better}},
		{"a third arm is closed", bandit.NormalGamma{}, [][]float64{{0.5, 0.6, 0.7}, {9}, {}}, []bool{true, false, true}, []float64{better, 0, 1 - better}},
		{"all in tenths of the units", bandit.NormalGamma{PriorMean: 5, Rate: 1}, [][]float64{{5, 6, 7}, {}}, all(2), []float64{better, 1 - better}},
		{"another prior: m = 1.25, β = 0.04 + 0.25 + 1/8 = 0.415, sqrt(β/(2.5·4))·t of 5 against 1 + sqrt(0.04/3)·t of 3", bandit.NormalGamma{PriorMean: 1, PriorStrength: 2, Shape: 1.5, Rate: 0.04}, [][]float64{{1, 2}, {}}, all(2), []float64{other, 1 - other}},
	} {
		for arm, xs := range tt.seen {
			for _, x := range xs {
				tt.p.Update(outcome(arm), x)
			}
		}
		if got := ask(&tt.p, tt.open); !near(got, tt.want, 1e-10) {
			t.Errorf("%s: %.16f, want %v", tt.reason, got, tt.want)
		}
	}
}

// The policy's chances against draws from the posteriors, written out again: a precision from the gamma
// distribution, then a mean from the normal one. The share of samples that an arm wins is binomial; five
// standard deviations are allowed.
func TestNormalGammaMonteCarlo(t *testing.T) {
	const arms, samples = 5, 100_000
	rng := newRand(5)
	p, seen := &bandit.NormalGamma{Shape: 1.5}, [arms][]float64{}
	for range 25 {
		arm := rng.IntN(arms - 1) // the last arm stays untried
		x := 0.5 + 0.05*float64(arm+1)*rng.NormFloat64()
		p.Update(outcome(arm), x)
		seen[arm] = append(seen[arm], x)
	}
	var wins [arms]float64
	for range samples {
		best, at := math.Inf(-1), 0
		for arm, xs := range seen {
			if x := sampleNormalGamma(rng, xs); x > best {
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

// sampleNormalGamma updates the prior (0.5, 1, 3/2, 0.01) one outcome at a time and draws a mean. With 2α
// whole, a gamma draw is half a sum of 2α squared normal ones.
func sampleNormalGamma(rng *rand.Rand, xs []float64) float64 {
	mean, strength, shape, rate := 0.5, 1.0, 1.5, 0.01
	for _, x := range xs {
		rate += strength * (x - mean) * (x - mean) / (2 * (strength + 1))
		mean = (strength*mean + x) / (strength + 1)
		strength++
		shape += 0.5
	}
	var precision float64
	for range int(2 * shape) {
		z := rng.NormFloat64()
		precision += z * z / 2 / rate
	}
	return mean + rng.NormFloat64()/math.Sqrt(strength*precision)
}

// Where the noise is unknown, the worse of two arms should be pulled about 2·ln T/ln(1 + Δ²/σ²) times (A. N.
// Burnetas, M. N. Katehakis, 1996): 8.6 for σ = 0.1, Δ = 0.2 and T = 1000. Ten times that is allowed to the
// mean of 40 runs, for the second-order terms; playing at random makes it 500. The prior's own idea of the
// noise is ten times too large, so it has to be learned.
func TestNormalGammaRegret(t *testing.T) {
	t.Parallel()
	const rounds, runs, sigma, gap = 1000, 40, 0.1, 0.2
	normal := func(mean float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return mean + sigma*rng.NormFloat64() }
	}
	var pulls float64
	for seed := range uint64(runs) {
		pulls += float64(play(t, &bandit.NormalGamma{Rate: 1}, rounds, seed, []func(*rand.Rand) float64{normal(0.7), normal(0.7 - gap)})[1])
	}
	if mean, most := pulls/runs, 10*2*math.Log(rounds)/math.Log(1+gap*gap/(sigma*sigma)); mean > most {
		t.Errorf("the worse arm was pulled %v times on average, want at most %v", mean, most)
	} else {
		t.Logf("the worse arm was pulled %.1f times on average, allowed %.1f", mean, most)
	}
}

// What sets it apart: of two arms with the same mean, the one that scatters is the less certain.
func TestNormalGammaLearnsTheNoise(t *testing.T) {
	p := &bandit.NormalGamma{}
	for i := range 20 {
		p.Update(outcome(0), 0.5+0.01*float64(i%2*2-1))
		p.Update(outcome(1), 0.5+0.3*float64(i%2*2-1))
		p.Update(outcome(2), 0.55)
	}
	if got := ask(p, all(3)); got[1] < 3*got[0] {
		t.Errorf("%v: want more for the arm that scatters than for its like", got)
	}
}

func TestNormalGammaForgets(t *testing.T) {
	p := reported(&bandit.NormalGamma{}, []int{0, 0, 0}, 0.9, 0.8, 1)
	p.Forget(1e-12)
	if got := ask(p, all(2)); !near(got, []float64{0.5, 0.5}, 1e-9) {
		t.Errorf("forgotten: %v, want what the prior says", got)
	}
}

func TestNormalGammaParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.NormalGamma
		names string
	}{
		{bandit.NormalGamma{PriorMean: math.NaN()}, "NormalGamma.PriorMean is NaN"},
		{bandit.NormalGamma{PriorMean: 1e101}, "NormalGamma.PriorMean is 1e+101"},
		{bandit.NormalGamma{PriorStrength: -1}, "NormalGamma.PriorStrength is -1"},
		{bandit.NormalGamma{Shape: 0.4}, "NormalGamma.Shape is 0.4"},
		{bandit.NormalGamma{Rate: -0.1}, "NormalGamma.Rate is -0.1"},
		{bandit.NormalGamma{Rate: math.Inf(1)}, "NormalGamma.Rate is +Inf"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	full := &bandit.NormalGamma{PriorMean: 0.5, PriorStrength: 1, Shape: 1, Rate: 0.01}
	if a, b := (&bandit.NormalGamma{}).String(), full.String(); a != b || a != "NormalGamma(mean=0.5, strength=1, shape=1, rate=0.01)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleNormalGamma() {
	p := &bandit.NormalGamma{}
	fmt.Println(p)
	fmt.Println(coins(p, 1000, 0.2, 0.8, 0.5))
	// Output:
	// NormalGamma(mean=0.5, strength=1, shape=1, rate=0.01)
	// [3 985 12]
}
