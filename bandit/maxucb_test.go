package bandit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

func TestMaxUCBHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.MaxUCB{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.MaxUCB{Alpha: 1e-200} })
}

func TestMaxUCB(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		alpha   float64
		arms    []int
		rewards []float64
		pending []int
		want    int
	}{
		{"no outcome: the lowest arm", 0, nil, nil, nil, 0},
		{"unpulled arms in order", 0, []int{0}, []float64{1}, nil, 1},
		{"0.8 + (0.5·ln 3/2)² = 0.875 < 0.6 + (0.5·ln 3)² = 0.902: the best counts and not the mean", 0, []int{0, 0, 1}, []float64{0.8, 0, 0.6}, nil, 1},
		{"0.8 + 0.075 > 0.5 + 0.302", 0, []int{0, 0, 1}, []float64{0.8, 0, 0.5}, nil, 0},
		{"with α = 1, 0.8 + 0.302 < 0.5 + 1.207", 1, []int{0, 0, 1}, []float64{0.8, 0, 0.5}, nil, 1},
		{"ties go to the lowest arm", 0, []int{1, 0}, []float64{0.7, 0.7}, nil, 0},
		{"a first pull pending: not unpulled, and as good as the mean of all", 0, []int{1}, []float64{0.7}, []int{1, 0}, 0},
		{"pending pulls count as pulls", 0, []int{0, 1}, []float64{0.7, 0.7}, []int{1, 0}, 1},
	} {
		p, pending := reported(&bandit.MaxUCB{Alpha: tt.alpha}, tt.arms, tt.rewards...), make([]int, 2)
		copy(pending, tt.pending)
		if got := the(askPending(p, all(2), pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

func TestMaxUCBOracle(t *testing.T) {
	rng := newRand(2)
	for range 20 {
		arms, alpha := 1+rng.IntN(8), 0.1+rng.Float64()
		p, history := &bandit.MaxUCB{Alpha: alpha}, make([][]float64, arms)
		for n := range 200 {
			best, want := math.Inf(-1), -1
			for arm, xs := range history {
				index := math.Inf(1)
				if len(xs) > 0 {
					index = slices.Max(xs) + math.Pow(alpha*math.Log(float64(n))/float64(len(xs)), 2)
				}
				if index > best {
					best, want = index, arm
				}
			}
			if got := the(ask(p, all(arms))); got != want {
				t.Fatalf("%d arms, α %v, draw %d: arm %d, want %d", arms, alpha, n, got, want)
			}
			x := rng.Float64() - 0.5
			history[want] = append(history[want], x)
			p.Update(outcome(want), x)
		}
	}
}

// An arm that stays Δ behind is not pulled any more once (α·ln t/n)² < Δ, so at most α·ln T/√Δ + 1 times: with
// Δ = 0.04 and T = 5000, 22 times.
func TestMaxUCBRegret(t *testing.T) {
	const rounds, gap = 5000, 0.04
	pulls := play(t, &bandit.MaxUCB{}, rounds, 1, []func(*rand.Rand) float64{constant(0.9 - gap), constant(0.9), constant(0.9 - gap)})
	bound := 0.5*math.Log(rounds)/math.Sqrt(gap) + 1
	for _, arm := range []int{0, 2} {
		if n := float64(pulls[arm]); n > bound || n < bound/2 {
			t.Errorf("arm %d was pulled %v times, want at most %v and about as many", arm, n, bound)
		}
	}
}

// Arm 0 has the better mean and arm 1 the better best. Until that has been seen Δ is 0.06 and arm 1 is pulled
// about 16 times, in none of which it comes up with a chance of 2⁻¹⁶. From then on Δ is 0.05 the other way
// round, and arm 0 is pulled at most α·ln T/√Δ + 1 = 19 times.
func TestMaxUCBSeeksTheBest(t *testing.T) {
	const rounds = 3000
	often := func(rng *rand.Rand) float64 {
		if rng.IntN(2) == 0 {
			return 0.75
		}
		return 0.64
	}
	for seed := range uint64(20) {
		if pulls := play(t, &bandit.MaxUCB{}, rounds, seed, []func(*rand.Rand) float64{constant(0.7), often}); pulls[0] > 19+16 {
			t.Errorf("seed %d: the arm of the lesser best was pulled %d times of %d", seed, pulls[0], rounds)
		}
	}
}

func TestMaxUCBParameters(t *testing.T) {
	for _, alpha := range []float64{-1, math.NaN(), math.Inf(1)} {
		wantPanic(t, "not a weight", func() { ask(&bandit.MaxUCB{Alpha: alpha}, all(2)) }, "MaxUCB.Alpha is")
	}
	if a, b := (&bandit.MaxUCB{}).String(), (&bandit.MaxUCB{Alpha: 0.5}).String(); a != b || a != "MaxUCB(alpha=0.5)" {
		t.Errorf("0 prints %q and its default %q", a, b)
	}
}

func ExampleMaxUCB() {
	p := &bandit.MaxUCB{}
	player := bandit.NewPlayer(p, 2, 1)
	for _, reward := range []float64{0.5, 0.4, 0.9, 0.9, 0.9} {
		pull, _ := player.Draw([]bool{true, true})
		fmt.Print(pull.Arm, " ")
		player.Report(pull.ID, reward)
	}
	fmt.Println(p)
	// Output: 0 1 0 0 0 MaxUCB(alpha=0.5)
}
