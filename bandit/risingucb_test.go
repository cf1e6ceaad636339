package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

func TestRisingUCBHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.RisingUCB{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.RisingUCB{Epsilon: 0.5, Sigma: 0.1, Alpha: 3} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.RisingUCB{Epsilon: 0.01, Sigma: 1e300} })
}

func TestRisingUCB(t *testing.T) {
	// An arm with 0.1, 0.2, ..., 0.8 has h = 2, and its line is at 0.1·t.
	line := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}
	for _, tt := range []struct {
		reason  string
		sigma   float64
		seen    [][]float64 // by arm
		pending []int
		want    int
	}{
		{"no outcome: the lowest arm", 0, [][]float64{{}, {}}, nil, 0},
		{"with n = 3, ⌊n/4⌋ = 0: the arm with the fewest pulls", 0, [][]float64{{0.1, 0.2, 0.3}, {0.9}, {0.1, 0.2}}, nil, 1},
		{"those pending too", 0, [][]float64{{0.1, 0.2, 0.3}, {0.9}, {0.1, 0.2}}, []int{0, 2, 0}, 2},
		{"before an arm that has enough", 0, [][]float64{line, {0, 0, 0}}, nil, 1},
		{"at t = 17 the line is at 1.7, above 1.69", 0, [][]float64{slices.Repeat([]float64{1.69}, 8), line}, nil, 1},
		{"and below 1.71", 0, [][]float64{slices.Repeat([]float64{1.71}, 8), line}, nil, 0},
		{"with one pending it is t = 18, and 1.8", 0, [][]float64{slices.Repeat([]float64{1.71}, 8), line}, []int{1, 0}, 1},
		{"at t = 13, β of σ = 0.1 is 0.1·(13 − 4)·sqrt(20·ln 13/1) = 6.446 for n = 4 and 0.1·(13 − 8 + 1)·sqrt(20·ln 13/8) = 1.519 for n = 8", 0.1, [][]float64{slices.Repeat([]float64{4.9}, 8), {0, 0, 0, 0}}, nil, 1},
		{"so that 5 more make it the other", 0.1, [][]float64{slices.Repeat([]float64{5}, 8), {0, 0, 0, 0}}, nil, 0},
		{"all pulls of the beginning pending: the mean of all outcomes", 0, [][]float64{{0.4, 0.4, 0.4, 0.4}, {}}, []int{0, 4}, 0},
	} {
		p := &bandit.RisingUCB{Sigma: tt.sigma}
		for arm, xs := range tt.seen {
			for _, x := range xs {
				p.Update(outcome(arm), x)
			}
		}
		pending := make([]int, len(tt.seen))
		copy(pending, tt.pending)
		if got := the(askPending(p, all(len(tt.seen)), pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// The formula as it stands.
func oracleRising(x []float64, t, epsilon, sigma, alpha float64) float64 {
	n := float64(len(x))
	h := math.Floor(epsilon * n)
	var sum float64
	for l := n - h + 1; l <= n; l++ {
		sum += x[int(l)-1] + (t-l)*(x[int(l)-1]-x[int(l-h)-1])/h
	}
	delta := math.Pow(t, -alpha)
	return sum/h + sigma*(t-n+h-1)*math.Sqrt(10*math.Log(1/delta)/(h*h*h))
}

func TestRisingUCBOracle(t *testing.T) {
	rng := newRand(3)
	for _, tt := range []struct{ epsilon, sigma, alpha float64 }{{0.25, 0, 2}, {0.25, 0.01, 2}, {0.4, 0.05, 2.5}, {0.5, 0, 2}} {
		const arms = 3
		p, history := &bandit.RisingUCB{Epsilon: tt.epsilon, Sigma: tt.sigma, Alpha: tt.alpha}, make([][]float64, arms)
		for n := range 400 {
			want, best, fewest := -1, math.Inf(-1), math.MaxInt
			for arm, x := range history {
				if len(x) < fewest && math.Floor(tt.epsilon*float64(len(x))) == 0 {
					want, fewest = arm, len(x)
				}
			}
			for arm, x := range history {
				if fewest == math.MaxInt {
					if v := oracleRising(x, float64(n+1), tt.epsilon, tt.sigma, tt.alpha); v > best {
						want, best = arm, v
					}
				}
			}
			if got := the(ask(p, all(arms))); got != want {
				t.Fatalf("%v, draw %d: arm %d, want %d", p, n, got, want)
			}
			x := 1 - math.Pow(float64(len(history[want])+1), -0.3-0.1*float64(want)) + 0.02*rng.NormFloat64()
			history[want] = append(history[want], x)
			p.Update(outcome(want), x)
		}
	}
}

// On arms that do not rise it pulls the worse ones the four times that a line takes. The source has
// no bound for σ = 0.
func TestRisingUCBRegret(t *testing.T) {
	pulls := play(t, &bandit.RisingUCB{}, 1000, 1, []func(*rand.Rand) float64{constant(0.3), constant(0.31), constant(0.1)})
	if want := []int{4, 992, 4}; !slices.Equal(pulls, want) {
		t.Errorf("pulls %v, want %v", pulls, want)
	}
}

// The arm that ends as the best rises slowly and for long: alone it would reach 0.918. UCB1 goes by what it has
// been so far.
func TestRisingUCBFindsTheLateBest(t *testing.T) {
	const rounds = 500
	early, late := []float64{0}, []float64{0}
	for n := 1.0; n <= rounds; n++ {
		early = append(early, 0.6*(1-math.Exp(-n/10)))
		late = append(late, 1-math.Exp(-n/200))
	}
	arms := [][]float64{early, late, early}
	rising, plain := mustPlay(t, &bandit.RisingUCB{}, arms, rounds), mustPlay(t, &bandit.UCB1{}, arms, rounds)
	if a, b := rising.Best[rounds], plain.Best[rounds]; a < 0.8 || a < b {
		t.Errorf("came to %v, UCB1 to %v", a, b)
	}
}

// mustPlay lets a policy play arms of which the course is known.
func mustPlay(t testing.TB, p bandit.Policy, arms [][]float64, rounds int) sim.Played {
	t.Helper()
	played, err := sim.Play(p, arms, sim.PlayConfig{Rounds: rounds})
	if err != nil {
		t.Fatal(err)
	}
	return played
}

func TestRisingUCBParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.RisingUCB
		names string
	}{
		{bandit.RisingUCB{Epsilon: -0.1}, "RisingUCB.Epsilon is -0.1"},
		{bandit.RisingUCB{Epsilon: 0.6}, "RisingUCB.Epsilon is 0.6"},
		{bandit.RisingUCB{Sigma: -1}, "RisingUCB.Sigma is -1"},
		{bandit.RisingUCB{Alpha: math.NaN()}, "RisingUCB.Alpha is NaN"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	if a, b := (&bandit.RisingUCB{}).String(), (&bandit.RisingUCB{Epsilon: 0.25, Alpha: 2}).String(); a != b || a != "RisingUCB(epsilon=0.25, sigma=0, alpha=2)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleRisingUCB() {
	arms := [][]float64{
		{0.1, 0.5, 0.6, 0.62, 0.63, 0.63, 0.63, 0.63, 0.63, 0.63, 0.63, 0.63, 0.63},
		{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 0.9, 0.9},
	}
	played, err := sim.Play(&bandit.RisingUCB{}, arms, sim.PlayConfig{Rounds: 12})
	fmt.Println(played.Selections, err)
	// Output: [0 1 0 1 0 1 0 1 1 1 1 1] <nil>
}
