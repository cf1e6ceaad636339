package bandit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

func TestASHAHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.ASHA{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.ASHA{T: 1000} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.ASHA{MinPulls: 3, Eta: 2} })
}

func TestASHA(t *testing.T) {
	four := [][]float64{level(0.1), level(0.4), level(0.2), level(0.3)}
	for _, tt := range []struct {
		reason string
		p      bandit.ASHA
		arms   [][]float64
		want   []int
	}{
		{"one arm", bandit.ASHA{}, [][]float64{level(0.5)}, []int{0, 0, 0}},
		{"η = 2: of two with one pull, 1 goes on to two; of four, 3 does too; of two with two, 1 goes on to four; then it is the best", bandit.ASHA{Eta: 2}, four,
			[]int{0, 1, 1, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1}},
		{"r = 2: an arm goes on until it has two, and from there to four", bandit.ASHA{Eta: 2, MinPulls: 2}, four,
			[]int{0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 1, 1, 1, 1, 1}},
		{"η = 4: of four, 1 goes on to four", bandit.ASHA{}, four,
			[]int{0, 1, 2, 3, 1, 1, 1, 1, 1}},
		{"T = 24 makes r = 24/(4·(1 + 1)) = 3", bandit.ASHA{T: 24}, four,
			[]int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		if got := mustPlay(t, &tt.p, tt.arms, len(tt.want)).Selections; !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got %v\nwant %v", tt.reason, got, tt.want)
		}
	}
}

// Algorithm 2 of the source with one worker: get_job returns an arm and the rung to take it to, and the job
// is done before the next.
func oracleASHA(arms [][]float64, first, eta, rounds int) []int {
	var order []int
	pulls := make([]int, len(arms))
	for begun := 0; len(order) < rounds; {
		arm, target := -1, 0
		for level := first * pow(eta, 20); level >= first && arm < 0; level /= eta {
			var reached []int
			for a, n := range pulls {
				if n >= level {
					reached = append(reached, a)
				}
			}
			slices.SortStableFunc(reached, func(a, b int) int {
				switch {
				case arms[a][level] > arms[b][level]:
					return -1
				case arms[a][level] < arms[b][level]:
					return 1
				}
				return 0
			})
			for _, a := range reached[:len(reached)/eta] {
				if pulls[a] == level {
					arm, target = a, level*eta
					break
				}
			}
		}
		if arm < 0 && begun < len(arms) {
			arm, target = begun, first
			begun++
		}
		if arm < 0 { // the source has another arm to begin
			arm = 0
			for a := range arms {
				if arms[a][pulls[a]] > arms[arm][pulls[arm]] {
					arm = a
				}
			}
			target = pulls[arm] * eta
		}
		for pulls[arm] < target && len(order) < rounds {
			pulls[arm]++
			order = append(order, arm)
		}
	}
	return order
}

func pow(b, n int) int {
	p := 1
	for range n {
		p *= b
	}
	return p
}

func TestASHAOracle(t *testing.T) {
	rng := newRand(8)
	for range 100 {
		k, eta, first, rounds := 1+rng.IntN(30), 2+rng.IntN(3), 1+rng.IntN(5), 400
		arms := concave(rng, k, 3*rounds)
		for _, a := range arms { // in steps, so that there are ties
			for n := range a {
				a[n] = float64(int(a[n]*20)) / 20
			}
		}
		got := mustPlay(t, &bandit.ASHA{MinPulls: first, Eta: eta}, arms, rounds).Selections
		if want := oracleASHA(arms, first, eta, rounds); !slices.Equal(got, want) {
			t.Fatalf("K = %d, r = %d, η = %d:\n got %v\nwant %v", k, first, eta, got, want)
		}
	}
}

// With several pulls pending it does not wait for a rung to fill.
func TestASHAInFlight(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		arms    []int
		rewards []float64
		closed  []int
		pending []int
		want    int
	}{ // η = 2, r = 2
		{"all that a rung takes is pending: another arm begins", nil, nil, nil, []int{2, 0, 0, 0}, 1},
		{"half of it is: it goes on", nil, nil, nil, []int{1, 0, 0, 0}, 0},
		{"unless it is closed while a pull is pending", nil, nil, []int{0}, []int{1, 0, 0, 0}, 1},
		{"the furthest goes on first", []int{0, 1, 1, 1}, []float64{0.1, 0.2, 0.2, 0.2}, nil, nil, 1},
		{"it has not reached the rung before the outcome is in", []int{0, 0, 1}, []float64{0.1, 0.1, 0.2}, nil, []int{0, 1, 0, 0}, 2},
		{"of two arms the better goes on, though a third is on its way there", []int{0, 0, 1, 1}, []float64{0.1, 0.1, 0.2, 0.2}, nil, []int{0, 0, 2, 0}, 1},
		{"one that has all the pulls of its next rung pending has gone on", []int{0, 0, 1, 1}, []float64{0.1, 0.1, 0.2, 0.2}, nil, []int{0, 2, 0, 0}, 2},
		{"the best may not go on, being closed: of one place, none is left for the other", []int{0, 0, 1, 1}, []float64{0.1, 0.1, 0.2, 0.2}, []int{1}, nil, 2},
	} {
		p, open, pending := reported(&bandit.ASHA{MinPulls: 2, Eta: 2}, tt.arms, tt.rewards...), all(4), make([]int, 4)
		for _, arm := range tt.closed {
			open[arm] = false
		}
		copy(pending, tt.pending)
		if got := the(askPending(p, open, pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// On arms that do not rise, those that never go on get r pulls: of eight arms, η = 2 and T = 1000, r is
// 1000/(8·4) = 31. There is no bound of the regret in the source.
func TestASHARegret(t *testing.T) {
	arms := []func(*rand.Rand) float64{constant(0.3), constant(0.9), constant(0.1), constant(0.5), constant(0.2), constant(0.8), constant(0.4), constant(0.6)}
	pulls := play(t, &bandit.ASHA{T: 1000, Eta: 2}, 1000, 1, arms)
	if pulls[2] != 31 || pulls[4] != 31 || slices.Index(pulls, slices.Max(pulls)) != 1 || pulls[1] < 500 {
		t.Errorf("pulls %v, want 31 for the worst and most for the best", pulls)
	}
}

func TestASHAParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.ASHA
		names string
	}{
		{bandit.ASHA{T: -1}, "ASHA.T is -1"},
		{bandit.ASHA{MinPulls: -1}, "ASHA.MinPulls is -1"},
		{bandit.ASHA{Eta: 1}, "ASHA.Eta is 1"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	if a, b := (&bandit.ASHA{}).String(), (&bandit.ASHA{Eta: 4}).String(); a != b || a != "ASHA(T=0, minPulls=0, eta=4)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleASHA() {
	arms := sim.Arms(sim.Named("staircase"), 1, 4, 1, 24)
	played, err := sim.Play(&bandit.ASHA{Eta: 2}, arms, sim.PlayConfig{Rounds: 24})
	fmt.Println(played.Selections, err)
	// Output: [0 1 0 2 2 2 2 3 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2] <nil>
}
