package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestEpsilonGreedyHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.EpsilonGreedy{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.EpsilonGreedy{Epsilon: 1e-300} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.EpsilonGreedy{Decay: 30} })
}

func TestEpsilonGreedy(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		p       bandit.EpsilonGreedy
		arms    []int
		rewards []float64
		open    []bool
		pending []int
		want    []float64
	}{
		{"no outcome: the lowest arm is best", bandit.EpsilonGreedy{}, nil, nil, all(2), nil, []float64{0.95, 0.05}},
		{"an arm never pulled is better than any", bandit.EpsilonGreedy{}, []int{0}, []float64{9}, all(2), nil,
			[]float64{0.05, 0.95}},
		{"the larger mean", bandit.EpsilonGreedy{Epsilon: 0.2}, []int{0, 0, 1}, []float64{1, 0, 0.6}, all(2), nil,
			[]float64{0.1, 0.9}},
		{"ties go to the lowest arm", bandit.EpsilonGreedy{Epsilon: 0.2}, []int{1, 0}, []float64{0.6, 0.6}, all(2), nil,
			[]float64{0.9, 0.1}},
		{"a closed arm: ε is shared by the others", bandit.EpsilonGreedy{Epsilon: 0.2}, []int{0, 1, 2},
			[]float64{0.1, 0.9, 0.5}, []bool{true, false, true}, nil, []float64{0.1, 0, 0.9}},
		{"a first pull pending: the mean of all, so it ties with arm 1 and the lowest has it",
			bandit.EpsilonGreedy{Epsilon: 0.2}, []int{1}, []float64{0.5}, all(2), []int{1, 0}, []float64{0.9, 0.1}},
		{"Decay 4 at the first draw: min(1, 4/1)", bandit.EpsilonGreedy{Decay: 4}, nil, nil, all(2), nil,
			[]float64{0.5, 0.5}},
		{"Decay 4 at the fifth draw: 4/5", bandit.EpsilonGreedy{Decay: 4}, []int{0, 1, 1, 1}, []float64{1, 0, 0, 0}, all(2),
			nil, []float64{0.6, 0.4}},
		{"the fifth draw with two pending is the same", bandit.EpsilonGreedy{Decay: 4}, []int{0, 1}, []float64{1, 0}, all(2),
			[]int{1, 1}, []float64{0.6, 0.4}},
		{"at most Epsilon", bandit.EpsilonGreedy{Decay: 4, Epsilon: 0.5}, []int{0, 1, 1, 1}, []float64{1, 0, 0, 0}, all(2),
			nil, []float64{0.75, 0.25}},
	} {
		reported(&tt.p, tt.arms, tt.rewards...)
		pending := make([]int, len(tt.open))
		copy(pending, tt.pending)
		if got := askPending(&tt.p, tt.open, pending); !near(got, tt.want, 1e-15) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// A constant share is a floor under an argmax, so [bandit.WithFloor] over a policy that is greedy makes the
// same of the same outcomes.
func TestEpsilonGreedyOracle(t *testing.T) {
	rng, oracle, p := newRand(2), bandit.WithFloor(&Greedy{}, 0.3), &bandit.EpsilonGreedy{Epsilon: 0.3}
	reported(oracle, []int{0, 1, 2, 3}, 0.1, 0.1, 0.1, 0.1)
	reported(p, []int{0, 1, 2, 3}, 0.1, 0.1, 0.1, 0.1)
	for round := range 1000 {
		open := all(4)
		open[rng.IntN(4)] = false
		if a, b := ask(p, open), ask(oracle, open); !near(a, b, 1e-15) {
			t.Fatalf("round %d: %v, want %v", round, a, b)
		}
		arm, x := rng.IntN(4), rng.NormFloat64()
		p.Update(outcome(arm), x)
		oracle.Update(outcome(arm), x)
	}
}

// Theorem 3 of Auer, Cesa-Bianchi and Fischer (2002) bounds the chance that draw n is of a worse arm, for
// n of at least c·K/d; before that it is 1. With K = 2, d = 0.8, c = 6 and 5000 draws the sum is 249 pulls,
// of the 2500 that playing at random makes. The mean over 40 runs is allowed five standard errors more.
func TestEpsilonGreedyRegret(t *testing.T) {
	const rounds, runs, k, d, c = 5000, 40, 2, 0.8, 6
	var bound float64
	for n := 1.0; n <= rounds; n++ {
		chance := 1.0
		if n >= c*k/d {
			x := (n - 1) * d * d * math.Sqrt(math.E) / (c * k)
			chance = min(1, c/(d*d*n)+2*c/(d*d)*math.Log(x)*math.Pow(x, -c/(5*d*d))+4*math.E/(d*d)*math.Pow(x, -c/2))
		}
		bound += chance
	}
	mean, se := meanSE(regrets(t, func() bandit.Policy { return &bandit.EpsilonGreedy{Decay: c * k / (d * d)} }, rounds,
		runs, 0.1, 0.9))
	if mean > d*bound+5*se {
		t.Errorf("regret %v, bound %v", mean, d*bound)
	}
	t.Logf("%.1f pulls of the worse arm, bound %.1f", mean/d, bound)
}

// The random half of the draws of a constant share is binomial; five standard deviations are allowed.
func TestEpsilonGreedyDraws(t *testing.T) {
	const n, epsilon = 20_000, 0.4
	pulls := play(t, &bandit.EpsilonGreedy{Epsilon: epsilon}, n, 1,
		[]func(*rand.Rand) float64{constant(0.5), constant(0.2), constant(0.4), constant(0.3)})
	for _, arm := range []int{1, 2, 3} {
		if want, sd := n*epsilon/4, math.Sqrt(n*epsilon/4*(1-epsilon/4)); math.Abs(float64(pulls[arm])-want) > 5*sd+1 {
			t.Errorf("arm %d was pulled %d times, want %v ± %v", arm, pulls[arm], want, sd)
		}
	}
}

func TestEpsilonGreedyForgets(t *testing.T) {
	p := reported(&bandit.EpsilonGreedy{Epsilon: 0.2}, []int{0, 0, 0, 1}, 0, 0, 0, 0.5)
	p.Forget(0.1)
	p.Update(outcome(0), 1) // mean (0.3·0 + 1)/1.3 = 0.77
	if got := ask(p, all(2)); !near(got, []float64{0.9, 0.1}, 1e-15) {
		t.Errorf("%v, want the arm that has become better", got)
	}
}

func TestEpsilonGreedyParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.EpsilonGreedy
		names string
	}{
		{bandit.EpsilonGreedy{Epsilon: -0.1}, "EpsilonGreedy.Epsilon is -0.1"},
		{bandit.EpsilonGreedy{Epsilon: 1.1}, "EpsilonGreedy.Epsilon is 1.1"},
		{bandit.EpsilonGreedy{Epsilon: math.NaN()}, "EpsilonGreedy.Epsilon is NaN"},
		{bandit.EpsilonGreedy{Decay: -1}, "EpsilonGreedy.Decay is -1"},
		{bandit.EpsilonGreedy{Decay: math.Inf(1)}, "EpsilonGreedy.Decay is +Inf"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	for want, p := range map[string]*bandit.EpsilonGreedy{
		"EpsilonGreedy(epsilon=0.1, decay=0)": {},
		"EpsilonGreedy(epsilon=1, decay=5)":   {Decay: 5},
	} {
		if p.String() != want {
			t.Errorf("prints %q, want %q", p, want)
		}
	}
}

func ExampleEpsilonGreedy() {
	for _, p := range []bandit.Policy{&bandit.EpsilonGreedy{}, &bandit.EpsilonGreedy{Decay: 20}} {
		fmt.Println(p, coins(p, 1000, 0.2, 0.8, 0.5))
	}
	// Output:
	// EpsilonGreedy(epsilon=0.1, decay=0) [38 859 103]
	// EpsilonGreedy(epsilon=1, decay=20) [32 940 28]
}
