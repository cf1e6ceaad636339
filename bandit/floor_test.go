package bandit_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestWithFloorHolds(t *testing.T) {
	for _, epsilon := range []float64{0, 0.1, 1} {
		bandittest.Run(t, func() bandit.Policy { return bandit.WithFloor(&bandit.UCB1{}, epsilon) })
		bandittest.Run(t, func() bandit.Policy { return bandit.WithFloor(&bandit.PaperEXP3P{}, epsilon) })
	}
}

func TestWithFloor(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		epsilon float64
		open    []bool
		want    []float64
	}{
		{"0.8·1 + 0.2/4 and 0.2/4", 0.2, all(4), []float64{0.85, 0.05, 0.05, 0.05}},
		{"shared by the open arms alone", 0.2, []bool{false, true, true, false}, []float64{0, 0.9, 0.1, 0}},
		{"no floor", 0, all(2), []float64{1, 0}},
		{"nothing but floor", 1, all(2), []float64{0.5, 0.5}},
	} {
		if got := ask(bandit.WithFloor(&listener{}, tt.epsilon), tt.open); !near(got, tt.want, 1e-15) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// What the policy hears is the propensity with the floor in it, so importance weights are right:
// here Σ reward/propensity over the pulls of an arm estimates the sum of the rewards it would have
// had in all n draws, n/2. Each term has variance at most 1/propensity, and five standard
// deviations are allowed.
func TestWithFloorTellsTheTruePropensity(t *testing.T) {
	const n, epsilon = 20000, 0.2
	l := &listener{}
	play(t, bandit.WithFloor(l, epsilon), n, 1, []func(*rand.Rand) float64{bernoulli(0.5), bernoulli(0.5)})
	var sums [2]float64
	for i, pull := range l.pulls {
		sums[pull.Arm] += l.rewards[i] / pull.Prob
	}
	for arm, p := range []float64{0.9, 0.1} {
		if sd := math.Sqrt(n / p); math.Abs(sums[arm]-n/2) > 5*sd {
			t.Errorf("arm %d: estimate %v, want %v ± %v", arm, sums[arm], n/2., 5*sd)
		}
	}
}

func TestWithFloorParameters(t *testing.T) {
	for _, epsilon := range []float64{-0.1, 1.1, math.NaN()} {
		wantPanic(t, "not a share", func() { bandit.WithFloor(bandit.Random{}, epsilon) }, "WithFloor(Random(), ",
			"need a share in [0, 1]")
	}
}
