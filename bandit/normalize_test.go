package bandit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// listener notes what it is told. It favors arm 0 by far.
type listener struct {
	pulls   []bandit.Pull
	rewards []float64
}

func (*listener) Probs(p []float64, r bandit.Round) {
	bandit.OneHot(p, r.Open, func(arm int) float64 { return -float64(arm) })
}

func (l *listener) Update(pull bandit.Pull, reward float64) {
	l.pulls, l.rewards = append(l.pulls, pull), append(l.rewards, reward)
}

func (*listener) String() string { return "listener()" }

func TestNormalizeHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return bandit.Normalize(&bandit.UCB1{}, -1, 3) })
	bandittest.Run(t, func() bandit.Policy { return bandit.Normalize(&listener{}, -1, 3) })
	bandittest.Run(t, func() bandit.Policy { return bandit.Rescale(&bandit.UCB1{}) })
	bandittest.Run(t, func() bandit.Policy { return bandit.Discounted(bandit.Rescale(&bandit.EXP3P{}), 0.9) })
}

func TestNormalize(t *testing.T) {
	for _, tt := range []struct {
		reason       string
		lo, hi, x, y float64
	}{
		{"the low end", -1, 3, -1, 0},
		{"the high end", -1, 3, 3, 1},
		{"in between", -1, 3, 0, 0.25},
		{"below is clipped", -1, 3, -2, 0},
		{"above is clipped", -1, 3, 4, 1},
		{"so far below that the difference overflows", 1e308, 1.5e308, -1e308, 0},
		{"so far above", -1.5e308, -1e308, 1e308, 1},
	} {
		l := &listener{}
		pull := bandit.Pull{ID: 3, Arm: 1, Prob: 0.25}
		bandit.Normalize(l, tt.lo, tt.hi).Update(pull, tt.x)
		if l.rewards[0] != tt.y || l.pulls[0] != pull {
			t.Errorf("%s: [%v, %v] maps %v to %v of %+v, want %v", tt.reason, tt.lo, tt.hi, tt.x, l.rewards[0], l.pulls[0], tt.y)
		}
	}
}

func TestNormalizeParameters(t *testing.T) {
	for _, tt := range []struct{ lo, hi float64 }{{1, 1}, {2, 1}, {math.NaN(), 1}, {0, math.Inf(1)}, {-1e308, 1e308}} {
		wantPanic(t, "not a range", func() { bandit.Normalize(bandit.Random{}, tt.lo, tt.hi) }, "Normalize(Random(), ",
			"need lo < hi")
	}
}

func TestRescale(t *testing.T) {
	l := &listener{}
	p := bandit.Rescale(l)
	for _, x := range []float64{-7, -7, math.NaN(), -3, -5, -11, 1e308, -1e308, 0} {
		p.Update(outcome(0), x)
	}
	if want := []float64{0, 0, 1, 0.5, 0, 1, 0, 0.5}; !slices.Equal(l.rewards, want) {
		t.Errorf("told %v, want %v", l.rewards, want)
	}
}

// Policies choose alike on any scale: those that take any, and the others by Rescale.
func TestRewardsOnAnyScale(t *testing.T) {
	for _, fresh := range []func() bandit.Policy{
		func() bandit.Policy { return &bandit.Challenge{} },
		func() bandit.Policy { return &bandit.ExpectedImprovement{} },
		func() bandit.Policy { return &bandit.SuccessiveHalving{} },
		func() bandit.Policy { return bandit.WithFloor(&bandit.Challenge{}, 0.1) },
		func() bandit.Policy { return bandit.Mix([]float64{1, 1}, &bandit.Challenge{}, bandit.Random{}) },
		func() bandit.Policy { return &bandit.UCB1{} },
		func() bandit.Policy { return &bandit.UCBTuned{} },
		func() bandit.Policy { return &bandit.GaussianThompson{} },
		func() bandit.Policy { return &bandit.Softmax{} },
		func() bandit.Policy { return &bandit.EXP3P{} },
		func() bandit.Policy { return &bandit.PaperEXP3P{} },
		func() bandit.Policy { return bandit.Mix([]float64{1, 1}, &bandit.Challenge{}, &bandit.UCB1{}) },
	} {
		arms := sim.Arms(sim.Named("ideas"), 1, 5, 1, 200)
		var want []int
		for _, scale := range []struct{ by, plus float64 }{{1, 0}, {4096, 0}, {0.25, -64}, {1, -1}} { // which round alike
			scaled := make([][]float64, len(arms))
			for i, arm := range arms {
				for _, x := range arm {
					x = math.Round(x*(1<<20)) / (1 << 20)
					scaled[i] = append(scaled[i], scale.by*x+scale.plus)
				}
			}
			played, err := sim.Play(bandit.Rescale(fresh()), scaled, sim.PlayConfig{Rounds: 200})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = played.Selections
			}
			if !slices.Equal(played.Selections, want) {
				t.Errorf("%v draws other arms for rewards times %v plus %v", fresh(), scale.by, scale.plus)
			}
		}
	}
}
