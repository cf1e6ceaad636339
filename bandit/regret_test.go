package bandit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

// regrets lets fresh policies play arms that pay 1 with the chances given, and returns the regret of each
// run: how many rewards fewer the arms pulled have in expectation than the best one.
func regrets(t testing.TB, fresh func() bandit.Policy, rounds, runs int, chances ...float64) []float64 {
	t.Helper()
	var arms []func(*rand.Rand) float64
	for _, chance := range chances {
		arms = append(arms, bernoulli(chance))
	}
	all := make([]float64, runs)
	for seed := range all {
		for arm, n := range play(t, fresh(), rounds, uint64(seed), arms) {
			all[seed] += float64(n) * (slices.Max(chances) - chances[arm])
		}
	}
	return all
}

// meanSE returns the mean of xs and its standard error.
func meanSE(xs []float64) (mean, se float64) {
	var sum, squares float64
	for _, x := range xs {
		sum += x
		squares += x * x
	}
	n := float64(len(xs))
	mean = sum / n
	return mean, math.Sqrt(max(0, squares/n-mean*mean) / n)
}

// constant is an arm that always pays the same.
func constant(x float64) func(*rand.Rand) float64 {
	return func(*rand.Rand) float64 { return x }
}

// reported returns a policy that has been told, in order, outcomes drawn at propensity 1.
func reported[P bandit.Policy](p P, arms []int, rewards ...float64) P {
	for i, arm := range arms {
		p.Update(bandit.Pull{ID: i, Arm: arm, Prob: 1}, rewards[i])
	}
	return p
}

// the returns the arm that has all of the mass, or -1.
func the(p []float64) int { return slices.Index(p, 1) }
