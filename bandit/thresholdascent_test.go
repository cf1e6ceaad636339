package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestThresholdAscentHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.ThresholdAscent{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.ThresholdAscent{T: 1000, S: 1, Delta: 1e-300} })
}

// With T = 50, two arms and δ = 1, α = ln 200 = 5.298.
func TestThresholdAscent(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		s       int
		arms    []int
		rewards []float64
		pending []int
		want    int
	}{
		{"no outcome: the lowest arm", 0, nil, nil, nil, 0},
		{"unpulled arms in order", 0, []int{0}, []float64{1}, nil, 1},
		{"S = 2 and 0 of 2: (2 + α + sqrt(4α + α²))/2 = 7.161 > 2α/2 = 5.298", 0, []int{1, 1, 0, 0}, []float64{0, 0, 0.3, 0.1}, nil, 0},
		{"rewards of 0 are not above the threshold, so all are alike", 0, []int{1, 0}, []float64{0, 0}, nil, 0},
		{"nor are those below", 0, []int{0, 1}, []float64{-1, 0.1}, nil, 1},
		{"the size does not matter: a tie", 0, []int{1, 0}, []float64{0.9, 0.1}, nil, 0},
		{"but a threshold at 0.1 does: one above it and none", 2, []int{1, 0}, []float64{0.9, 0.1}, nil, 1},
		{"of three, one at the threshold that two raise it to", 2, []int{0, 1, 1}, []float64{0.5, 0.5, 0.1}, nil, 0},
		{"S = 3 of 4 and 1 of 1: 4.057 < (1 + α + sqrt(2α + α²))/1 = 12.521", 0, []int{0, 0, 0, 0, 1}, []float64{0.1, 0.1, 0.1, 0, 0.1}, nil, 1},
		{"pending pulls count as pulls", 0, []int{1, 0}, []float64{0.1, 0.1}, []int{1, 0}, 1},
	} {
		p, pending := reported(&bandit.ThresholdAscent{T: 50, S: tt.s, Delta: 1}, tt.arms, tt.rewards...), make([]int, 2)
		copy(pending, tt.pending)
		if got := the(askPending(p, all(2), pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// The threshold found anew from all rewards at each draw: from 0 up to the least reward above it for as
// long as s are. Rewards are of a few values, so that there are ties.
func TestThresholdAscentOracle(t *testing.T) {
	rng := newRand(2)
	for _, s := range []int{1, 2, 7, 40} {
		const arms = 4
		for _, horizon := range []int{0, 300} {
			p, history := &bandit.ThresholdAscent{T: horizon, S: s, Delta: 0.1}, make([][]float64, arms)
			for n := range 300 {
				want := oracleAscent(history, s, n, horizon)
				if got := the(ask(p, all(arms))); got != want {
					t.Fatalf("s = %d, T = %d, draw %d: arm %d, want %d", s, horizon, n, got, want)
				}
				x := float64(rng.IntN(20)-2+want) / 20
				history[want] = append(history[want], x)
				p.Update(outcome(want), x)
			}
		}
	}
}

func oracleAscent(history [][]float64, s, n, horizon int) int {
	above := func(xs []float64, threshold float64) (count float64, least float64) {
		least = math.Inf(1)
		for _, x := range xs {
			if x > threshold {
				count++
				least = min(least, x)
			}
		}
		return count, least
	}
	threshold := 0.0
	for {
		total, least := 0.0, math.Inf(1)
		for _, xs := range history {
			count, low := above(xs, threshold)
			total, least = total+count, min(least, low)
		}
		if total < float64(s) {
			break
		}
		threshold = least
	}
	if horizon == 0 {
		horizon = max(n, 1)
	}
	alpha := math.Log(2 * float64(horizon) * float64(len(history)) / 0.1)
	best, at := math.Inf(-1), -1
	for arm, xs := range history {
		index := math.Inf(1)
		if pulls := float64(len(xs)); pulls > 0 {
			count, _ := above(xs, threshold)
			mean := count / pulls
			index = mean + (alpha+math.Sqrt(2*pulls*mean*alpha+alpha*alpha))/pulls
		}
		if index > best {
			best, at = index, arm
		}
	}
	return at
}

// Streeter and Smith (2006), theorem 1, for a threshold that stays: the expected regret with rewards of 0
// and 1 is at most 2·sqrt(3·μ*·T·(K−1)·α) + δ·μ*·T. With two arms, μ* = 0.9, T = 5000 and δ = 0.01 that is
// 930, of the 2000 that playing at random costs. The mean over 20 runs is allowed five standard errors more.
func TestThresholdAscentRegret(t *testing.T) {
	const rounds, runs, best, delta = 5000, 20, 0.9, 0.01
	alpha := math.Log(2 * rounds * 2 / delta)
	bound := 2*math.Sqrt(3*best*rounds*alpha) + delta*best*rounds
	mean, se := meanSE(regrets(t, func() bandit.Policy { return &bandit.ThresholdAscent{T: rounds, S: rounds + 1, Delta: delta} }, rounds, runs, 0.1, best))
	if mean > bound+5*se {
		t.Errorf("regret %v, bound %v", mean, bound)
	}
	t.Logf("regret %.0f, bound %.0f", mean, bound)
}

// Arm 0 has the better mean and arm 1 the better best rewards. It should find arm 1.
func TestThresholdAscentSeeksTheBest(t *testing.T) {
	const rounds = 4000
	arms := []func(*rand.Rand) float64{
		func(rng *rand.Rand) float64 { return 0.5 + 0.1*rng.Float64() },
		func(rng *rand.Rand) float64 { return 0.9 * math.Pow(rng.Float64(), 2) }, // above 0.6 in 18 % of pulls, 0.3 on average
	}
	for seed := range uint64(5) {
		if pulls := play(t, &bandit.ThresholdAscent{T: rounds, S: 50}, rounds, seed, arms); pulls[1] < rounds*7/10 {
			t.Errorf("seed %d: the arm of the best rewards was pulled %d times of %d", seed, pulls[1], rounds)
		}
	}
}

func TestThresholdAscentParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.ThresholdAscent
		names string
	}{
		{bandit.ThresholdAscent{T: -1}, "ThresholdAscent.T is -1"},
		{bandit.ThresholdAscent{S: -1}, "ThresholdAscent.S is -1"},
		{bandit.ThresholdAscent{Delta: -0.5}, "ThresholdAscent.Delta is -0.5"},
		{bandit.ThresholdAscent{Delta: math.NaN()}, "ThresholdAscent.Delta is NaN"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	if a, b := (&bandit.ThresholdAscent{}).String(), (&bandit.ThresholdAscent{S: 100, Delta: 0.01}).String(); a != b || a != "ThresholdAscent(T=0, s=100, delta=0.01)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleThresholdAscent() {
	p := &bandit.ThresholdAscent{T: 1000, S: 20}
	player, rng := bandit.NewPlayer(p, 2, 1), rand.New(rand.NewPCG(1, 1))
	pulls := make([]int, 2)
	for range 1000 {
		pull, err := player.Draw([]bool{true, true})
		if err != nil {
			panic(err)
		}
		pulls[pull.Arm]++
		reward := 0.6 // of arm 0
		if pull.Arm == 1 {
			reward = rng.Float64()
		}
		player.Report(pull.ID, reward)
	}
	fmt.Println(p, pulls)
	// Output: ThresholdAscent(T=1000, s=20, delta=0.01) [310 690]
}
