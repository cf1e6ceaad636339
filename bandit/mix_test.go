package bandit_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestMixHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy {
		return bandit.Mix([]float64{3, 1, 0}, &bandit.UCB1{}, &bandit.PaperEXP3P{}, &bandit.GaussianThompson{})
	})
	bandittest.Run(t, func() bandit.Policy {
		return bandit.Mix([]float64{1, 1}, bandit.Mix([]float64{1, 2}, &bandit.UCB1{}, bandit.Random{}), &listener{})
	})
}

func TestMix(t *testing.T) {
	l, other := &listener{}, &listener{}
	p := bandit.Mix([]float64{3, 1, 1}, l, bandit.Random{}, other)
	for _, tt := range []struct {
		open []bool
		want []float64
	}{
		{all(4), []float64{0.8 + 0.05, 0.05, 0.05, 0.05}},
		{[]bool{false, true, true}, []float64{0, 0.8 + 0.1, 0.1}},
	} {
		if got := ask(p, tt.open); !near(got, tt.want, 1e-15) {
			t.Errorf("open %v: %v, want %v", tt.open, got, tt.want)
		}
	}
	pull := bandit.Pull{ID: 7, Arm: 1, Prob: 0.05}
	p.Update(pull, 0.5)
	for _, l := range []*listener{l, other} {
		if !slices.Equal(l.pulls, []bandit.Pull{pull}) || !slices.Equal(l.rewards, []float64{0.5}) {
			t.Errorf("a policy heard %+v, %v", l.pulls, l.rewards)
		}
	}
	if got, want := fmt.Sprint(p), "Mix(0.6*listener() + 0.2*Random() + 0.2*listener())"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
}

// The caller's slices may change afterwards.
func TestMixCopies(t *testing.T) {
	weights, policies := []float64{1, 0}, []bandit.Policy{&listener{}, bandit.Random{}}
	p := bandit.Mix(weights, policies...)
	weights[0], policies[0] = 0, nil
	if got, want := ask(p, all(2)), []float64{1, 0}; !near(got, want, 0) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMixParameters(t *testing.T) {
	r := bandit.Random{}
	for _, tt := range []struct {
		reason   string
		weights  []float64
		policies []bandit.Policy
		message  string
	}{
		{"a weight missing", []float64{1}, []bandit.Policy{r, r}, "1 weights and 2 policies"},
		{"nothing at all", nil, nil, "sum"},
		{"weights of 0", []float64{0, 0}, []bandit.Policy{r, r}, "sum"},
		{"a negative weight", []float64{2, -1}, []bandit.Policy{r, r}, "weight -1 of Random()"},
		{"no number", []float64{1, math.NaN()}, []bandit.Policy{r, r}, "weight NaN"},
		{"too large together", []float64{1e308, 1e308}, []bandit.Policy{r, r}, "finite"},
	} {
		wantPanic(t, tt.reason, func() { bandit.Mix(tt.weights, tt.policies...) }, tt.message)
	}
}
