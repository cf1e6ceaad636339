package bandit_test

import (
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
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
	wantPanic(t, "nothing to normalize", func() { bandit.Normalize(nil, 0, 1) }, "nil policy")
}
