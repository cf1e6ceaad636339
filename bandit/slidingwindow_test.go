package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestSlidingWindowHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.SlidingWindow{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.SlidingWindow{Window: 1, Xi: 1e-3} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.SlidingWindow{T: 1000} })
}

func TestSlidingWindow(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		p       bandit.SlidingWindow
		arms    []int
		rewards []float64
		pending []int
		want    int
	}{
		{"no outcome: the lowest arm", bandit.SlidingWindow{Window: 3}, nil, nil, nil, 0},
		{"unpulled arms in order", bandit.SlidingWindow{Window: 3}, []int{0}, []float64{1}, nil, 1},
		{"0.5 + sqrt(0.6·ln 3/2) = 1.074 < 0.7 + sqrt(0.6·ln 3) = 1.512", bandit.SlidingWindow{Window: 3}, []int{0, 0, 1}, []float64{1, 0, 0.7}, nil, 1},
		{"with ξ = 0.01, 0.5 + 0.074 > 0.4 + 0.105", bandit.SlidingWindow{Window: 3, Xi: 0.01}, []int{0, 0, 1}, []float64{1, 0, 0.4}, nil, 0},
		{"the first outcome has left: 0 + 0.105 < 0.4 + 0.074", bandit.SlidingWindow{Window: 3, Xi: 0.01}, []int{0, 0, 1, 1}, []float64{1, 0, 0.4, 0.4}, nil, 1},
		{"an arm with none left is as if unpulled", bandit.SlidingWindow{Window: 2, Xi: 0.01}, []int{0, 1, 1}, []float64{1, 0.4, 0.4}, nil, 0},
		{"one that is on its way there is not, and has the mean of all", bandit.SlidingWindow{Window: 2, Xi: 0.01}, []int{0, 1, 1}, []float64{9, 0.4, 0.4}, []int{2, 0}, 0},
		{"that of the window, and not the 9 before it: 0.4 + sqrt(0.01·ln 2/2), and with three pending /3", bandit.SlidingWindow{Window: 2, Xi: 0.01}, []int{0, 1, 1}, []float64{9, 0.4, 0.4}, []int{3, 0}, 1},
		{"t is at most τ = 2, also with one pending: 0.5 + sqrt(ln 2) = 1.333 < 0.77 + sqrt(ln 2/2) = 1.359; with ln 3 it would be 1.548 > 1.511", bandit.SlidingWindow{Window: 2, Xi: 1}, []int{0, 1}, []float64{0.5, 0.77}, []int{0, 1}, 1},
	} {
		reported(&tt.p, tt.arms, tt.rewards...)
		pending := make([]int, 2)
		copy(pending, tt.pending)
		if got := the(askPending(&tt.p, all(2), pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// The index from its definition over the last τ outcomes, for a window given, that of T, and one that grows.
func TestSlidingWindowOracle(t *testing.T) {
	rng := newRand(6)
	for _, tt := range []struct {
		p      bandit.SlidingWindow
		window func(n int) float64
	}{
		{bandit.SlidingWindow{Window: 50}, func(int) float64 { return 50 }},
		{bandit.SlidingWindow{T: 300}, func(int) float64 { return math.Ceil(2 * math.Sqrt(300*math.Log(300))) }},
		{bandit.SlidingWindow{}, func(n int) float64 { return math.Ceil(2 * math.Sqrt(float64(n)*math.Log(float64(n)))) }},
	} {
		const arms = 4
		var history []past
		for round := range 600 {
			var sum, n [arms]float64
			tau := max(tt.window(max(round, 1)), 1)
			for i := max(0, round-int(tau)); i < round; i++ {
				sum[history[i].pull.Arm] += history[i].reward
				n[history[i].pull.Arm]++
			}
			best, want := math.Inf(-1), -1
			for arm := range arms {
				v := math.Inf(1)
				if n[arm] > 0 {
					v = sum[arm]/n[arm] + math.Sqrt(0.6*math.Log(min(float64(round), tau))/n[arm])
				}
				if v > best {
					best, want = v, arm
				}
			}
			if got := the(ask(&tt.p, all(arms))); got != want {
				t.Fatalf("%v, round %d: arm %d, want %d", &tt.p, round, got, want)
			}
			x := rng.Float64()
			history = append(history, past{outcome(want), x})
			tt.p.Update(outcome(want), x)
		}
	}
}

// An outlier that has left the window has left no rounding error in the sums.
func TestSlidingWindowLeavesNothingBehind(t *testing.T) {
	p := &bandit.SlidingWindow{Window: 4, Xi: 1e-9}
	reported(p, []int{0, 1, 0, 1, 0, 1}, 1e300, -1e300, 0.1, 0.2, 0.1, 0.2)
	if got := the(ask(p, all(2))); got != 1 {
		t.Errorf("arm %d, want that of mean 0.2", got)
	}
}

// Theorem 2 of Garivier and Moulines (2011) without a change: the expected pulls of an arm that is Δ worse
// are at most C·T·ln τ/τ + ln²τ, with C = 4ξ/Δ²·⌈T/τ⌉/(T/τ) + 2/ln τ·⌈ln τ/ln(1 + 4·sqrt(1 − 1/2ξ))⌉.
// With Δ = 0.8, T = 5000 and the window of T, 413, that is 499, of the 2500 that playing at random makes.
// The mean over 40 runs is allowed five standard errors more.
func TestSlidingWindowRegret(t *testing.T) {
	const rounds, runs, gap, xi = 5000.0, 40, 0.8, 0.6
	tau := math.Ceil(2 * math.Sqrt(rounds*math.Log(rounds)))
	c := 4*xi/(gap*gap)*math.Ceil(rounds/tau)/(rounds/tau) + 2/math.Log(tau)*math.Ceil(math.Log(tau)/math.Log(1+4*math.Sqrt(1-1/(2*xi))))
	bound := c*rounds*math.Log(tau)/tau + math.Log(tau)*math.Log(tau)
	mean, se := meanSE(regrets(t, func() bandit.Policy { return &bandit.SlidingWindow{T: rounds} }, rounds, runs, 0.1, 0.9))
	if mean > gap*bound+5*se {
		t.Errorf("regret %v, bound %v", mean, gap*bound)
	}
	t.Logf("%.1f pulls of the worse arm, bound %.1f", mean/gap, bound)
}

// When the best arm changes, the window finds the new one and the mean of all outcomes does not.
func TestSlidingWindowFollowsChange(t *testing.T) {
	const half = 2000
	late := func(p bandit.Policy) float64 {
		now := 0
		arm := func(early, late float64) func(*rand.Rand) float64 {
			return func(rng *rand.Rand) float64 {
				if now++; now <= half {
					return bernoulli(early)(rng)
				}
				return bernoulli(late)(rng)
			}
		}
		before := play(t, p, half, 1, []func(*rand.Rand) float64{arm(0.8, 0.2), arm(0.2, 0.8)})
		if before[0] < half*6/10 {
			t.Errorf("%v found the good arm in %d pulls of %d", p, before[0], half)
		}
		return float64(play(t, p, half, 2, []func(*rand.Rand) float64{arm(0.8, 0.2), arm(0.2, 0.8)})[1]) / half
	}
	if plain, window := late(&bandit.UCB1{C: math.Sqrt(0.6)}), late(&bandit.SlidingWindow{T: 2 * half}); window < 0.7 || window < plain {
		t.Errorf("after the change the good arm got %v of the pulls with a window and %v without", window, plain)
	}
}

func TestSlidingWindowParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.SlidingWindow
		names string
	}{
		{bandit.SlidingWindow{Window: -1}, "SlidingWindow.Window is -1"},
		{bandit.SlidingWindow{T: -1}, "SlidingWindow.T is -1"},
		{bandit.SlidingWindow{Xi: -0.6}, "SlidingWindow.Xi is -0.6"},
		{bandit.SlidingWindow{Xi: math.NaN()}, "SlidingWindow.Xi is NaN"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	if a, b := (&bandit.SlidingWindow{}).String(), (&bandit.SlidingWindow{Xi: 0.6}).String(); a != b || a != "SlidingWindow(window=0, T=0, xi=0.6)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleSlidingWindow() {
	p := &bandit.SlidingWindow{Window: 200}
	fmt.Println(p, coins(p, 1000, 0.2, 0.8, 0.5))
	// Output: SlidingWindow(window=200, T=0, xi=0.6) [38 883 79]
}
