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

func TestSuccessiveHalvingHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.SuccessiveHalving{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.SuccessiveHalving{T: 300} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.SuccessiveHalving{T: 1, Eta: 3} })
}

// level is an arm whose score is the same from its first pull on.
func level(x float64) []float64 { return append([]float64{0}, slices.Repeat([]float64{x}, 2000)...) }

func TestSuccessiveHalving(t *testing.T) {
	late := append([]float64{0, 0.1, 0.1, 0.1, 0.1}, slices.Repeat([]float64{0.9}, 100)...) // jumps at its fifth pull
	for _, tt := range []struct {
		reason string
		p      bandit.SuccessiveHalving
		arms   [][]float64
		want   []int
	}{
		{"one arm", bandit.SuccessiveHalving{T: 3}, [][]float64{level(0.5)}, []int{0, 0, 0}},
		{"T = 16, 2 rungs: 16/(4·2) = 2 pulls each, then 16/(2·2) = 4 for the two best, and the rest for the best",
			bandit.SuccessiveHalving{T: 16},
			[][]float64{level(0.2), level(0.4), level(0.1), level(0.3)},
			[]int{0, 1, 2, 3, 0, 1, 2, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 1}},
		{"of equals the lower arms go on", bandit.SuccessiveHalving{T: 8},
			[][]float64{level(0.2), level(0.3), level(0.2), level(0.2)},
			[]int{0, 1, 2, 3, 0, 1, 0, 1, 1, 1}},
		{"T is too short: one pull each at least", bandit.SuccessiveHalving{T: 2},
			[][]float64{level(0.2), level(0.4), level(0.1), level(0.3)},
			[]int{0, 1, 2, 3, 1, 3, 1, 1}},
		{"five arms, 3 rungs: 5, 3, 2 arms with 30/15 = 2, 30/9 = 3, 30/6 = 5 pulls", bandit.SuccessiveHalving{T: 30},
			[][]float64{level(0.1), level(0.2), level(0.3), level(0.4), level(0.5)},
			[]int{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 4}},
		{"η = 3, nine arms, 2 rungs: 18/18 = 1, then 18/6 = 3 for the best three", bandit.SuccessiveHalving{T: 18, Eta: 3},
			[][]float64{level(0.1), level(0.2), level(0.9), level(0.3), level(0.4), level(0.8), level(0.5), level(0.6),
				level(0.7)},
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 5, 8, 2, 5, 8, 2, 5, 8, 2, 2}},
		{"what comes late is not waited for", bandit.SuccessiveHalving{T: 16},
			[][]float64{late, level(0.2), level(0.3)},
			[]int{0, 1, 2, 0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 2, 2}},
		{"unknown T: 4·2 = 8 makes 1 and 2 more, 16 makes 2 and 4 more, 32 makes 4 and 8 more", bandit.SuccessiveHalving{},
			[][]float64{level(0.2), level(0.4), level(0.1), level(0.3)},
			[]int{0, 1, 2, 3, 1, 3, 1, 3, 0, 2, 1, 3, 1, 3, 1, 3, 0, 2, 0, 2, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3}},
	} {
		got := mustPlay(t, &tt.p, tt.arms, len(tt.want)).Selections
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got %v\nwant %v", tt.reason, got, tt.want)
		}
	}
}

// The algorithm as two nested loops, played to the end.
func oracleHalving(arms [][]float64, budget, eta int) []int {
	alive, pulls, log := []int{}, make([]int, len(arms)), 0
	for n := 1; n < len(arms); n *= eta {
		log++
	}
	for arm := range arms {
		alive = append(alive, arm)
	}
	var order []int
	for upTo := 0; len(alive) > 1; {
		upTo += max(1, budget/(len(alive)*log))
		for n := range upTo {
			for _, arm := range slices.Sorted(slices.Values(alive)) {
				if pulls[arm] == n {
					order = append(order, arm)
					pulls[arm]++
				}
			}
		}
		slices.SortStableFunc(alive, func(a, b int) int {
			switch x, y := arms[a][upTo], arms[b][upTo]; {
			case x > y || x == y && a < b:
				return -1
			}
			return 1
		})
		alive = alive[:int(math.Ceil(float64(len(alive))/float64(eta)))]
	}
	return append(order, slices.Repeat(alive, 10*budget)...)
}

func TestSuccessiveHalvingOracle(t *testing.T) {
	rng := newRand(8)
	for range 100 {
		k, eta, budget := 1+rng.IntN(20), 2+rng.IntN(3), 1+rng.IntN(300)
		arms, rounds := concave(rng, k, 2*budget), budget+rng.IntN(budget)
		got := mustPlay(t, &bandit.SuccessiveHalving{T: budget, Eta: eta}, arms, rounds).Selections
		if want := oracleHalving(arms, budget, eta)[:rounds]; !slices.Equal(got, want) {
			t.Fatalf("K = %d, T = %d, η = %d:\n got %v\nwant %v", k, budget, eta, got, want)
		}
	}
}

// With pending pulls a rung ends when its outcomes are in.
func TestSuccessiveHalvingInFlight(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		arms    []int
		rewards []float64
		closed  []int
		pending []int
		want    int
	}{ // T = 16: two pulls each, then four more for two arms
		{"turns count those pending", []int{0, 1}, []float64{0.1, 0.2}, nil, []int{0, 0, 1, 0}, 3},
		{"the last outcome of the rung is on its way: the best so far goes on", []int{0, 1, 2, 3, 0, 1, 2},
			[]float64{0.1, 0.3, 0.4, 0.2, 0.1, 0.3, 0.4}, nil, []int{0, 0, 0, 1}, 2},
		{"what 1 came to in such a pull does not count: 2 and 3 go on", []int{0, 1, 2, 3, 0, 1, 2, 1, 3},
			[]float64{0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 0.9, 0.4}, nil, nil, 2},
		{"closed, as it is on its way: the next best", []int{0, 1, 2, 3, 0, 1, 2},
			[]float64{0.1, 0.4, 0.2, 0.3, 0.1, 0.4, 0.2}, []int{1, 3}, []int{0, 1, 0, 1}, 2},
		{"closed for good after one pull: the rung is over without it, and 1 and 3 go on", []int{0, 1, 2, 3, 0, 1, 2},
			[]float64{0.1, 0.4, 0.2, 0.3, 0.1, 0.4, 0.2}, []int{3}, nil, 1},
		{"none that is left is open: the best of the others", []int{0, 1, 2, 3, 0, 1, 2, 3},
			[]float64{0.1, 0.4, 0.2, 0.3, 0.1, 0.4, 0.2, 0.3}, []int{1, 3}, nil, 2},
	} {
		p, open, pending := reported(&bandit.SuccessiveHalving{T: 16}, tt.arms, tt.rewards...), all(4), make([]int, 4)
		for _, arm := range tt.closed {
			open[arm] = false
		}
		copy(pending, tt.pending)
		if got := the(askPending(p, open, pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// Theorem 1 of Jamieson and Talwalkar (2016), for arms at νᵢ − g/n after n pulls, so that γ⁻¹(x) = g/x. It
// ends with the best arm at the budget of the theorem, whichever that is.
func TestSuccessiveHalvingBound(t *testing.T) {
	rng := newRand(9)
	for range 30 {
		k, g := 2+rng.IntN(15), 0.05
		limits := make([]float64, k)
		for i := range limits {
			limits[i] = 0.1 + 0.8*rng.Float64()
		}
		best := slices.Index(limits, slices.Max(limits))
		sum := float64(k)
		for i, v := range limits {
			if i != best {
				sum += math.Ceil(g / ((limits[best] - v) / 2))
			}
		}
		budget := int(2 * math.Ceil(math.Log2(float64(k))) * sum)
		if budget > 20_000 {
			continue // two arms are nearly alike
		}
		arms := make([][]float64, k)
		for i := range arms {
			arms[i] = []float64{0}
			for n := 1; n <= budget+1; n++ {
				arms[i] = append(arms[i], limits[i]-g*rng.Float64()/float64(n)) // not as far below as it may be
			}
			for n := 1; n <= budget+1; n++ { // its best so far
				arms[i][n] = max(arms[i][n], arms[i][n-1])
			}
		}
		if got := mustPlay(t, &bandit.SuccessiveHalving{T: budget}, arms, budget+1).Selections[budget]; got != best {
			t.Errorf("%d arms with limits %.3f: T = %d ended with arm %d, want %d", k, limits, budget, got, best)
		}
	}
}

// On arms that do not rise, the worse ones get no more than their rungs: of four arms and T = 1000, 125 or
// 375 pulls.
func TestSuccessiveHalvingRegret(t *testing.T) {
	pulls := play(t, &bandit.SuccessiveHalving{T: 1000}, 1000, 1,
		[]func(*rand.Rand) float64{constant(0.3), constant(0.9), constant(0.1), constant(0.5)})
	if want := []int{125, 375, 125, 375}; !slices.Equal(pulls, want) {
		t.Errorf("pulls %v, want %v", pulls, want)
	}
}

func TestSuccessiveHalvingParameters(t *testing.T) {
	for _, tt := range []struct {
		p     bandit.SuccessiveHalving
		names string
	}{
		{bandit.SuccessiveHalving{T: -1}, "SuccessiveHalving.T is -1"},
		{bandit.SuccessiveHalving{Eta: 1}, "SuccessiveHalving.Eta is 1"},
		{bandit.SuccessiveHalving{Eta: -2}, "SuccessiveHalving.Eta is -2"},
	} {
		wantPanic(t, "not a parameter", func() { ask(&tt.p, all(2)) }, tt.names)
	}
	if a, b := (&bandit.SuccessiveHalving{}).String(), (&bandit.SuccessiveHalving{Eta: 2}).String(); a != b ||
		a != "SuccessiveHalving(T=0, eta=2)" {
		t.Errorf("zeros print %q and their defaults %q", a, b)
	}
}

func ExampleSuccessiveHalving() {
	arms := sim.Arms(sim.Named("heavy-tail"), 1, 4, 1, 24)
	played, err := sim.Play(&bandit.SuccessiveHalving{T: 24}, arms, sim.PlayConfig{Rounds: 24})
	fmt.Println(played.Selections, err)
	// Output: [0 1 2 3 0 1 2 3 0 1 2 3 0 1 0 1 0 1 0 1 0 1 0 1] <nil>
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
