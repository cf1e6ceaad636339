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

func TestRisingEliminationHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.RisingElimination{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.RisingElimination{T: 1000, Ceiling: -5, Lag: 1} })
}

func TestRisingElimination(t *testing.T) {
	upTo := func(top float64) []float64 { // eight outcomes, the last seven of which rise by 0.01 each
		var x []float64
		for n := range 8 {
			x = append(x, top-0.01*float64(7-n))
		}
		return x
	}
	for _, tt := range []struct {
		reason  string
		horizon int
		seen    [][]float64 // by arm
		closed  []int
		pending []int
		want    int
	}{
		{"no outcome: the lowest arm", 100, [][]float64{{}, {}}, nil, nil, 0},
		{"in turns: the fewest pulls", 100, [][]float64{{0.5}, {}, {0.1, 0.1}}, nil, nil, 1},
		{"those pending too", 100, [][]float64{{0.5}, {}, {0.1, 0.1}}, nil, []int{0, 2, 0}, 0},
		{"seven outcomes: it may still come to the ceiling", 100,
			[][]float64{slices.Repeat([]float64{0.5}, 7), slices.Repeat([]float64{0.9}, 8)}, nil, nil, 0},
		{"eight without a rise: it cannot", 100, [][]float64{slices.Repeat([]float64{0.5}, 8),
			slices.Repeat([]float64{0.9}, 9)}, nil, nil, 1},
		{"0.5 + 0.01·(58 − 17) = 0.91 > 0.9", 58, [][]float64{upTo(0.5), slices.Repeat([]float64{0.9}, 9)}, nil, nil, 0},
		{"0.5 + 0.01·(57 − 17) = 0.9, which does not overtake", 57, [][]float64{upTo(0.5), slices.Repeat([]float64{0.9}, 9)},
			nil, nil, 1},
		{"pending, a pull is spent", 58, [][]float64{upTo(0.5), slices.Repeat([]float64{0.9}, 9)}, nil, []int{0, 1}, 1},
		{"T not known: 0.5 + 0.01·17", 0, [][]float64{upTo(0.5), slices.Repeat([]float64{0.66}, 9)}, nil, nil, 0},
		{"T not known: nor more", 0, [][]float64{upTo(0.5), slices.Repeat([]float64{0.68}, 9)}, nil, nil, 1},
		{"nobody comes past the ceiling, and the leader stays", 1000, [][]float64{upTo(0.99), upTo(1)}, nil, nil, 1},
		{"of equal leaders the lowest", 17, [][]float64{slices.Repeat([]float64{0.5}, 9), slices.Repeat([]float64{0.5}, 8)},
			nil, nil, 0},
		{"after the end only the leader", 10, [][]float64{upTo(0.5), upTo(0.6)}, nil, nil, 1},
		{"nor an arm of which less is known", 10, [][]float64{{0.5, 0.5}, upTo(0.6)}, nil, nil, 1},
		{"the leader closed: the others are judged without it", 100,
			[][]float64{slices.Repeat([]float64{0.5}, 9), slices.Repeat([]float64{0.9}, 9), slices.Repeat([]float64{0.4}, 8)},
			[]int{1}, nil, 0},
	} {
		p := &bandit.RisingElimination{T: tt.horizon}
		for arm, xs := range tt.seen {
			for _, x := range xs {
				p.Update(outcome(arm), x)
			}
		}
		open, pending := all(len(tt.seen)), make([]int, len(tt.seen))
		for _, arm := range tt.closed {
			open[arm] = false
		}
		copy(pending, tt.pending)
		if got := the(askPending(p, open, pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// concave returns the courses of arms that rise at falling rates, with a score before the first pull.
func concave(rng *rand.Rand, arms, rounds int) [][]float64 {
	all := make([][]float64, arms)
	for arm := range all {
		limit, pace := rng.Float64(), 1+100*rng.Float64()
		for n := range rounds + 1 {
			all[arm] = append(all[arm], limit*(1-math.Exp(-float64(n)/pace)))
		}
	}
	return all
}

// The rule as it stands picks the same arms. What it drops could not have ended as the best: where rises fall,
// an arm is at most as good after all pulls that are left as the leader is now.
func TestRisingEliminationOracle(t *testing.T) {
	rng := newRand(3)
	for range 30 {
		arms, rounds := 2+rng.IntN(8), 300
		p, curves := &bandit.RisingElimination{T: rounds}, concave(rng, arms, rounds)
		n := make([]int, arms)
		for round := range rounds {
			leader := 0
			for arm := range n {
				if n[arm] > 0 && (n[leader] == 0 || curves[arm][n[arm]] > curves[leader][n[leader]]) {
					leader = arm
				}
			}
			want := -1
			for arm := range n {
				bound := 1.0
				if n[arm] > 7 {
					bound = min(1, curves[arm][n[arm]]+(curves[arm][n[arm]]-curves[arm][n[arm]-7])/7*float64(rounds-round))
				}
				if dropped := arm != leader && n[arm] > 0 && bound <= curves[leader][n[leader]]; !dropped {
					if want < 0 || n[arm] < n[want] {
						want = arm
					}
				} else if could := curves[arm][n[arm]+min(rounds-round, rounds-n[arm])]; could > curves[leader][n[leader]]+1e-12 {
					t.Fatalf("round %d: arm %d is dropped and could have come to %v, above %v", round, arm, could,
						curves[leader][n[leader]])
				}
			}
			if got := the(ask(p, all(arms))); got != want {
				t.Fatalf("round %d: arm %d, want %d", round, got, want)
			}
			n[want]++
			p.Update(outcome(want), curves[want][n[want]])
		}
	}
}

// On arms that do not rise each of the worse ones gets eight pulls, C + 1, whatever T.
func TestRisingEliminationRegret(t *testing.T) {
	pulls := play(t, &bandit.RisingElimination{T: 1000}, 1000, 1,
		[]func(*rand.Rand) float64{constant(0.3), constant(0.31), constant(0.1)})
	if want := []int{8, 984, 8}; !slices.Equal(pulls, want) {
		t.Errorf("pulls %v, want %v", pulls, want)
	}
}

func TestRisingEliminationParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.RisingElimination
		names string
	}{
		{bandit.RisingElimination{T: -1}, "RisingElimination.T is -1"},
		{bandit.RisingElimination{Ceiling: math.Inf(1)}, "RisingElimination.Ceiling is +Inf"},
		{bandit.RisingElimination{Lag: -7}, "RisingElimination.Lag is -7"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	if a, b := (&bandit.RisingElimination{}).String(), (&bandit.RisingElimination{Ceiling: 1, Lag: 7}).String(); a != b ||
		a != "RisingElimination(T=0, ceiling=1, lag=7)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleRisingElimination() {
	arms := [][]float64{
		{0.1, 0.3, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4},
		{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9},
	}
	played, err := sim.Play(&bandit.RisingElimination{T: 10, Lag: 2}, arms, sim.PlayConfig{Rounds: 10})
	fmt.Println(played.Selections, err)
	// Output: [0 1 0 1 0 1 0 1 1 1] <nil>
}
