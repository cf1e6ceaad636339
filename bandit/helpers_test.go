package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// ask returns the policy's probabilities with nothing pending.
func ask(p bandit.Policy, open []bool) []float64 {
	return askPending(p, open, make([]int, len(open)))
}

func askPending(p bandit.Policy, open []bool, pending []int) []float64 {
	probs := make([]float64, len(open))
	p.Probs(probs, bandit.Round{Open: open, Pending: pending, Rand: newRand(1)})
	return probs
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// all returns n open arms.
func all(n int) []bool {
	open := make([]bool, n)
	for i := range open {
		open[i] = true
	}
	return open
}

// outcome is a pull of an arm at propensity 1.
func outcome(arm int) bandit.Pull { return bandit.Pull{Arm: arm, Prob: 1} }

// near reports whether a and b agree within tol everywhere.
func near(a, b []float64, tol float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= tol) {
			return false
		}
	}
	return true
}

// play lets a policy play an instance with one pull pending and returns the pulls of each arm.
func play(t testing.TB, p bandit.Policy, rounds int, seed uint64, reward []func(*rand.Rand) float64) []int {
	t.Helper()
	pl, rng, open := bandit.NewPlayer(p, len(reward), seed), newRand(seed), all(len(reward))
	pulls := make([]int, len(reward))
	for range rounds {
		pull, err := pl.Draw(open)
		if err != nil {
			t.Fatal(err)
		}
		pulls[pull.Arm]++
		if err := pl.Report(pull.ID, reward[pull.Arm](rng)); err != nil {
			t.Fatal(err)
		}
	}
	return pulls
}

func bernoulli(mean float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		if rng.Float64() < mean {
			return 1
		}
		return 0
	}
}

// wantPanic calls f and checks that it panics with a message that has all parts.
func wantPanic(t testing.TB, reason string, f func(), parts ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		v := recover()
		if v == nil {
			t.Errorf("%s: no panic", reason)
			return
		}
		for _, part := range append(parts, "bandit: ") {
			if !strings.Contains(fmt.Sprint(v), part) {
				t.Errorf("%s: panic %q lacks %q", reason, v, part)
			}
		}
	}()
	f()
}

// mustPlay lets a policy play recorded arms with one pull pending.
func mustPlay(t testing.TB, p bandit.Policy, arms [][]float64, rounds int) sim.Played {
	t.Helper()
	played, err := sim.Play(p, arms, sim.PlayConfig{Rounds: rounds})
	if err != nil {
		t.Fatal(err)
	}
	return played
}
