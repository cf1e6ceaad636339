package bandit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestDiscountedHolds(t *testing.T) {
	for _, gamma := range []float64{0.99, 1e-200} {
		for _, fresh := range []func() bandit.Policy{
			func() bandit.Policy { return &bandit.UCB1{} },
			func() bandit.Policy { return &bandit.PaperEXP3P{} },
			func() bandit.Policy { return &bandit.GaussianThompson{} },
			func() bandit.Policy { return &bandit.Random{} },
			func() bandit.Policy {
				return bandit.Mix([]float64{1, 1}, bandit.WithFloor(&bandit.UCB1{}, 0.1), bandit.Normalize(&bandit.PaperEXP3P{}, 0, 2))
			},
		} {
			bandittest.Run(t, func() bandit.Policy { return bandit.Discounted(fresh(), gamma) })
		}
	}
}

type past struct {
	pull   bandit.Pull
	reward float64
}

// D-UCB from its definition (Garivier and Moulines 2011): N = Σγᵏ over an arm's outcomes, k updates
// old, X̄ = Σγᵏ·x/N, and the index X̄ + c·sqrt(ln ΣN/N).
func oracleDUCB(history []past, arms int, gamma, c float64) int {
	n, sum, total := make([]float64, arms), make([]float64, arms), 0.0
	for i, h := range history {
		w := math.Pow(gamma, float64(len(history)-1-i))
		n[h.pull.Arm] += w
		sum[h.pull.Arm] += w * h.reward
		total += w
	}
	best, bound := -1, math.Inf(-1)
	for arm := range arms {
		if n[arm] == 0 {
			return arm
		}
		if b := sum[arm]/n[arm] + c*math.Sqrt(math.Log(total)/n[arm]); b > bound {
			best, bound = arm, b
		}
	}
	return best
}

func TestDiscountedUCB1Oracle(t *testing.T) {
	const arms, gamma, c = 4, 0.9, 0.5
	rng := newRand(6)
	p := bandit.Discounted(&bandit.UCB1{C: c}, gamma)
	var history []past
	for round := range 300 {
		want := oracleDUCB(history, arms, gamma, c)
		if got := slices.Index(ask(p, all(arms)), 1); got != want {
			t.Fatalf("round %d: arm %d, want %d", round, got, want)
		}
		x := rng.Float64()
		history = append(history, past{outcome(want), x})
		p.Update(outcome(want), x)
	}
}

// The weights then are exp(η·Σγᵏ·ĝ), k counting the outcomes of all arms since.
func TestDiscountedPaperEXP3POracle(t *testing.T) {
	const arms, gamma = 3, 0.95
	rng := newRand(7)
	p := bandit.Discounted(&bandit.PaperEXP3P{}, gamma)
	var history []past
	for round := range 200 {
		gains, sum := make([]float64, arms), 0.0
		for i, h := range history {
			gains[h.pull.Arm] += math.Pow(gamma, float64(len(history)-1-i)) * h.reward / (h.pull.Prob + 0.1/(2*arms))
		}
		want := make([]float64, arms)
		for arm, g := range gains {
			want[arm] = math.Exp(0.07 * g)
			sum += want[arm]
		}
		for arm := range want {
			want[arm] = 0.9*want[arm]/sum + 0.1/arms
		}
		if got := ask(p, all(arms)); !near(got, want, 1e-12) {
			t.Fatalf("round %d: %v, want %v", round, got, want)
		}
		arm := rng.IntN(arms)
		history = append(history, past{bandit.Pull{Arm: arm, Prob: want[arm]}, rng.Float64()})
		p.Update(history[round].pull, history[round].reward)
	}
}

// When the best arm changes halfway, a policy that forgets finds the new one.
func TestDiscountedFollowsChange(t *testing.T) {
	const half = 2000
	late := func(p bandit.Policy) float64 { // share of the good arm at the end
		now := 0
		reward := func(good func(int) bool) func(*rand.Rand) float64 {
			return func(rng *rand.Rand) float64 {
				now++
				return bernoulli(map[bool]float64{true: 0.8, false: 0.2}[good(now)])(rng)
			}
		}
		pulls := play(t, p, half, 1, []func(*rand.Rand) float64{reward(func(int) bool { return true }), reward(func(int) bool { return false })})
		if pulls[0] < half*6/10 {
			t.Errorf("%v found the good arm in %d pulls of %d", p, pulls[0], half)
		}
		pulls = play(t, p, half, 2, []func(*rand.Rand) float64{reward(func(int) bool { return false }), reward(func(int) bool { return true })})
		return float64(pulls[1]) / half
	}
	plain, forgetful := late(&bandit.GaussianThompson{}), late(bandit.Discounted(&bandit.GaussianThompson{}, 0.98))
	if forgetful < 0.7 || forgetful < plain {
		t.Errorf("after the change the good arm got %v of the pulls with forgetting and %v without", forgetful, plain)
	}
}

// stubborn cannot forget.
type stubborn struct{ bandit.Policy }

func TestDiscountedParameters(t *testing.T) {
	for _, gamma := range []float64{0, -1, 1.1, math.NaN()} {
		wantPanic(t, "not a factor", func() { bandit.Discounted(bandit.Random{}, gamma) }, "need a factor in (0, 1]")
	}
	wantPanic(t, "nothing to discount", func() { bandit.Discounted(nil, 0.5) }, "cannot forget")
	wantPanic(t, "a policy that cannot", func() { bandit.Discounted(stubborn{&bandit.UCB1{}}, 0.5) }, "bandit_test.stubborn cannot forget")
	for _, p := range []bandit.Policy{
		bandit.WithFloor(stubborn{&bandit.UCB1{}}, 0.1),
		bandit.Normalize(stubborn{&bandit.UCB1{}}, 0, 2),
		bandit.Mix([]float64{1, 1}, &bandit.UCB1{}, stubborn{&bandit.UCB1{}}),
	} {
		wantPanic(t, "a wrapper of one that cannot", func() { bandit.Discounted(p, 0.5) }, "cannot forget")
	}
	p := bandit.WithFloor(bandit.Discounted(bandit.Normalize(bandit.Random{}, 0, 2), 0.5), 0.1)
	if got := bandit.Discounted(p, 0.25).(interface{ String() string }).String(); got != "Discounted(WithFloor(Discounted(Normalize(Random(), 0, 2), 0.5), 0.1), 0.25)" {
		t.Errorf("prints %q", got)
	}
}
