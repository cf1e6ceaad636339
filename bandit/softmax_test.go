package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestSoftmaxHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.Softmax{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.Softmax{Tau: 1e-320, PriorMean: -1e300, PriorStrength: 1e-9} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.Softmax{Tau: 1e300} })
}

// After rewards 0.6 and 0.9, m = (0.5 + 1.5)/3 = 2/3 against 0.5 of an untried arm. At τ = 0.1 the odds
// are exp(10/6) = 5.294, hence a chance of 0.841131.
func TestSoftmax(t *testing.T) {
	const better = 0.8411308951190849
	for _, tt := range []struct {
		reason  string
		p       bandit.Softmax
		arms    []int
		rewards []float64
		open    []bool
		want    []float64
	}{
		{"no outcome: even", bandit.Softmax{}, nil, nil, all(4), []float64{0.25, 0.25, 0.25, 0.25}},
		{"two outcomes", bandit.Softmax{}, []int{0, 0}, []float64{0.6, 0.9}, all(2), []float64{better, 1 - better}},
		{"a third arm is closed", bandit.Softmax{}, []int{0, 1, 0}, []float64{0.6, 7, 0.9}, []bool{true, false, true},
			[]float64{better, 0, 1 - better}},
		{"all in tenths of the units", bandit.Softmax{Tau: 1, PriorMean: 5}, []int{0, 0}, []float64{6, 9}, all(2),
			[]float64{better, 1 - better}},
		{"a prior worth 2 and twice the rewards", bandit.Softmax{PriorStrength: 2}, []int{0, 0, 0, 0},
			[]float64{0.6, 0.9, 0.9, 0.6}, all(2), []float64{better, 1 - better}},
		{"nearly cold: greedy", bandit.Softmax{Tau: 1e-4}, []int{0, 1}, []float64{0.6, 0.7}, all(2), []float64{0, 1}},
	} {
		reported(&tt.p, tt.arms, tt.rewards...)
		if got := ask(&tt.p, tt.open); !near(got, tt.want, 1e-14) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// The formula as it stands, over the whole history.
func TestSoftmaxOracle(t *testing.T) {
	rng := newRand(4)
	p, sum, n := &bandit.Softmax{Tau: 0.2, PriorMean: 0.3, PriorStrength: 2}, [5]float64{}, [5]float64{}
	for round := range 500 {
		var want [5]float64
		var total float64
		for arm := range want {
			want[arm] = math.Exp((2*0.3 + sum[arm]) / (2 + n[arm]) / 0.2)
			total += want[arm]
		}
		for arm := range want {
			want[arm] /= total
		}
		if got := ask(p, all(5)); !near(got, want[:], 1e-12) {
			t.Fatalf("round %d: %v, want %v", round, got, want)
		}
		arm, x := rng.IntN(5), rng.Float64()
		p.Update(outcome(arm), x)
		sum[arm] += x
		n[arm]++
	}
}

// With the means known, a worse arm Δ behind of two is pulled 1/(1 + exp(Δ/τ)) of the time: at Δ = 0.2 and
// τ = 0.1 that is 0.1192, so the regret of 20,000 draws is 477 and no less, and 2000 at random. Five
// standard deviations of the draws are allowed, and as much again for the outcomes before the means are
// known.
func TestSoftmaxRegret(t *testing.T) {
	const rounds, gap = 20_000, 0.2
	share := 1 / (1 + math.Exp(gap/0.1))
	pulls := play(t, &bandit.Softmax{}, rounds, 1, []func(*rand.Rand) float64{constant(0.7), constant(0.7 - gap)})
	if want, sd := rounds*share, math.Sqrt(rounds*share*(1-share)); math.Abs(float64(pulls[1])-want) > 10*sd {
		t.Errorf("the worse arm was pulled %d times, want %v ± %v", pulls[1], want, 10*sd)
	}
}

func TestSoftmaxForgets(t *testing.T) {
	p := reported(&bandit.Softmax{}, []int{0}, 1)
	p.Forget(1e-12)
	if got := ask(p, all(2)); !near(got, []float64{0.5, 0.5}, 1e-9) {
		t.Errorf("forgotten: %v, want what the prior says", got)
	}
}

func TestSoftmaxParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.Softmax
		names string
	}{
		{bandit.Softmax{Tau: -1}, "Softmax.Tau is -1"},
		{bandit.Softmax{Tau: math.NaN()}, "Softmax.Tau is NaN"},
		{bandit.Softmax{PriorMean: math.Inf(-1)}, "Softmax.PriorMean is -Inf"},
		{bandit.Softmax{PriorStrength: -2}, "Softmax.PriorStrength is -2"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	full := &bandit.Softmax{Tau: 0.1, PriorMean: 0.5, PriorStrength: 1}
	if a, b := (&bandit.Softmax{}).String(), full.String(); a != b || a != "Softmax(tau=0.1, mean=0.5, strength=1)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleSoftmax() {
	p := &bandit.Softmax{Tau: 0.2}
	fmt.Println(p, coins(p, 1000, 0.2, 0.8, 0.5))
	// Output: Softmax(tau=0.2, mean=0.5, strength=1) [27 773 200]
}
