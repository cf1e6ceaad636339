package bandit_test

import (
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

// policies are those to measure. All of them draw without allocating.
var policies = []func() bandit.Policy{
	func() bandit.Policy { return &bandit.Challenge{} },
	func() bandit.Policy { return &bandit.ExpectedImprovement{} },
	func() bandit.Policy { return &bandit.ExpectedImprovement{T: 1000} },
	func() bandit.Policy { return &bandit.UCB1{} },
	func() bandit.Policy { return &bandit.PaperEXP3P{} },
	func() bandit.Policy { return &bandit.GaussianThompson{} },
	func() bandit.Policy { return &bandit.Random{} },
	func() bandit.Policy { return &bandit.EXP3P{T: 1000} },
	func() bandit.Policy { return &bandit.UCBTuned{} },
	func() bandit.Policy { return &bandit.Softmax{} },
	func() bandit.Policy { return &bandit.SuccessiveHalving{T: 1000} },
	func() bandit.Policy { return bandit.WithFloor(bandit.Normalize(&bandit.UCB1{}, 0, 2), 0.1) },
	func() bandit.Policy { return bandit.Discounted(&bandit.UCB1{}, 0.99) },
	func() bandit.Policy {
		return bandit.Mix([]float64{1, 1}, &bandit.UCB1{}, &bandit.PaperEXP3P{})
	},
}

// warm plays a policy past its first pulls, so that no two arms are alike to it.
func warm(tb testing.TB, p bandit.Policy, arms int) (*bandit.Player, []bool) {
	tb.Helper()
	pl, open := bandit.NewPlayer(p, arms, 1), all(arms)
	for range 3 * arms {
		step(tb, pl, open)
	}
	return pl, open
}

func step(tb testing.TB, pl *bandit.Player, open []bool) {
	pull, err := pl.Draw(open)
	if err == nil {
		err = pl.Report(pull.ID, 0.5+0.1*float64(pull.ID*7919%1000)/1000)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	for _, fresh := range policies {
		for _, arms := range []int{1, 10, 100} {
			p := fresh()
			pl, open := warm(t, p, arms)
			if n := testing.AllocsPerRun(100, func() { step(t, pl, open) }); n != 0 {
				t.Errorf("%v, %d arms: %v allocations a draw and report", p, arms, n)
			}
		}
	}
}

// BenchmarkPolicy is one Probs and one Update. Random shows how little a policy can take.
func BenchmarkPolicy(b *testing.B) {
	for _, fresh := range policies {
		for _, arms := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%v/K=%d", fresh(), arms), func(b *testing.B) {
				policy := fresh()
				_, open := warm(b, policy, arms)
				p, r := make([]float64, arms), bandit.Round{Open: open, Pending: make([]int, arms), Rand: newRand(1)}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					policy.Probs(p, r)
					arm := i % arms
					policy.Update(bandit.Pull{ID: i, Arm: arm, Prob: max(p[arm], 0.01)}, 0.5+0.1*float64(i*7919%1000)/1000)
				}
			})
		}
	}
}

// BenchmarkPlayer is one draw and one report.
func BenchmarkPlayer(b *testing.B) {
	for _, fresh := range policies {
		for _, arms := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%v/K=%d", fresh(), arms), func(b *testing.B) {
				pl, open := warm(b, fresh(), arms)
				b.ReportAllocs()
				for b.Loop() {
					step(b, pl, open)
				}
			})
		}
	}
}
