package bandit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestRandomHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.Random{} })
	bandittest.Run(t, func() bandit.Policy { return bandit.Random{} })
}

func TestRandom(t *testing.T) {
	p := bandit.Random{}
	p.Update(outcome(0), 1) // makes no difference
	for _, tt := range []struct {
		open []bool
		want []float64
	}{
		{[]bool{true, true, true, true}, []float64{0.25, 0.25, 0.25, 0.25}},
		{[]bool{false, true, false, true}, []float64{0, 0.5, 0, 0.5}},
		{[]bool{false, false, true}, []float64{0, 0, 1}},
	} {
		if got := ask(p, tt.open); !slices.Equal(got, tt.want) {
			t.Errorf("open %v: %v, want %v", tt.open, got, tt.want)
		}
	}
}

// The pulls of an arm in n draws are binomial; five standard deviations are allowed.
func TestRandomDraws(t *testing.T) {
	const n, arms = 20000, 5
	pulls := play(t, bandit.Random{}, n, 1, slices.Repeat([]func(*rand.Rand) float64{bernoulli(0.5)}, arms))
	for arm, got := range pulls {
		if mean, sd := n/5., math.Sqrt(n*0.2*0.8); math.Abs(float64(got)-mean) > 5*sd {
			t.Errorf("arm %d was pulled %d times of %d, want %v ± %v", arm, got, n, mean, 5*sd)
		}
	}
}
