package bandit_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

func TestUCBTunedHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.UCBTuned{} })
	bandittest.Run(t, func() bandit.Policy { return bandit.Discounted(&bandit.UCBTuned{}, 0.9) })
}

func TestUCBTuned(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		seen    [][]float64 // by arm
		open    []bool
		pending []int
		want    int
	}{
		{"no outcome: the lowest arm", [][]float64{{}, {}}, nil, nil, 0},
		{"unpulled arms in order", [][]float64{{1}, {}, {}}, nil, nil, 1},
		{"0.5 + sqrt(ln 3/2/4) = 0.871 < 0.7 + sqrt(ln 3/4) = 1.224", [][]float64{{1, 0}, {0.7}}, nil, nil, 1},
		{"300 equal rewards: V = sqrt(2·ln 400/300) = 0.19986 < ¼, so 0.5 + sqrt(ln 400/300·V) = 0.5632 < 0.445 + sqrt(ln 400/100/4) = 0.5674; with ¼ for both it would be 0.5707", [][]float64{slices.Repeat([]float64{0.5}, 300), slices.Repeat([]float64{0.445}, 100)}, nil, nil, 1},
		{"300 that scatter by 0.5: V is ¼, and 0.5707 > 0.5674",
			[][]float64{slices.Repeat([]float64{0, 1}, 150), slices.Repeat([]float64{0.445}, 100)}, nil, nil, 0},
		{"300 that scatter by 0.2: V = 0.04 + 0.19986, and 0.5 + 0.0692 = 0.5692 > 0.5674",
			[][]float64{slices.Repeat([]float64{0.3, 0.7}, 150), slices.Repeat([]float64{0.445}, 100)}, nil, nil, 0},
		{"ties go to the lowest arm", [][]float64{{0.5}, {0.7}, {0.7}}, nil, nil, 1},
		{"a closed arm is passed over", [][]float64{{0.5}, {0.9}, {0.7}}, []bool{true, false, true}, nil, 2},
		{"a first pull pending: not unpulled", [][]float64{{}, {}, {}}, nil, []int{1, 0, 0}, 1},
		{"pending without outcome: the mean of all and a wider bound", [][]float64{{0.5, 0.5}, {}}, nil, []int{0, 1}, 1},
		{"pending pulls narrow the bound", [][]float64{{0.5}, {0.5}}, nil, []int{1, 0}, 1},
	} {
		p, open, pending := &bandit.UCBTuned{}, all(len(tt.seen)), make([]int, len(tt.seen))
		for arm, xs := range tt.seen {
			for _, x := range xs {
				p.Update(outcome(arm), x)
			}
		}
		if tt.open != nil {
			open = tt.open
		}
		copy(pending, tt.pending)
		if got := the(askPending(p, open, pending)); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// An index computed anew from the whole history at each draw picks the same arms. Rewards scatter about
// a million, where a difference of squares would have lost the variance.
func TestUCBTunedOracle(t *testing.T) {
	rng := newRand(2)
	for _, base := range []float64{0, 1e6} {
		p, history := &bandit.UCBTuned{}, make([][]float64, 4)
		for n := range 3000 {
			best, want := math.Inf(-1), -1
			for arm, xs := range history {
				v := math.Inf(1)
				if len(xs) > 0 {
					v = tunedBound(xs, n)
				}
				if v > best {
					best, want = v, arm
				}
			}
			if got := the(ask(p, all(4))); got != want {
				t.Fatalf("rewards about %v, draw %d: arm %d, want %d", base, n, got, want)
			}
			x := base + 0.1*float64(want) + 0.1*float64(want+1)*rng.Float64()
			history[want] = append(history[want], x)
			p.Update(outcome(want), x)
		}
	}
}

func tunedBound(xs []float64, t int) float64 {
	n, mean, variance, log := float64(len(xs)), 0.0, 0.0, math.Log(float64(t))
	for _, x := range xs {
		mean += x / n
	}
	for _, x := range xs {
		variance += (x - mean) * (x - mean) / n
	}
	return mean + math.Sqrt(log/n*min(0.25, variance+math.Sqrt(2*log/n)))
}

// The source has no bound. No good policy pulls the worse arm fewer than ln n/kl times (T. L. Lai,
// H. Robbins, 1985), which is 4.8 here, with kl = 0.8·ln 9; ten times that is allowed to the mean of 40
// runs, where UCB1's bound allows 35 and playing at random makes it 2500. And the source finds it to beat
// UCB1.
func TestUCBTunedRegret(t *testing.T) {
	t.Parallel()
	const rounds, gap = 5000, 0.8
	runs := notrun.Length(10, 40)
	tuned, _ := meanSE(regrets(t, func() bandit.Policy { return &bandit.UCBTuned{} }, rounds, runs, 0.1, 0.9))
	plain, _ := meanSE(regrets(t, func() bandit.Policy { return &bandit.UCB1{} }, rounds, runs, 0.1, 0.9))
	if most := 10 * gap * math.Log(rounds) / (0.8 * math.Log(9)); tuned > most || tuned > plain {
		t.Errorf("regret %v, want at most %v and UCB1's %v", tuned, most, plain)
	}
}

func TestUCBTunedForgets(t *testing.T) {
	p := reported(&bandit.UCBTuned{}, []int{0, 0, 1}, 0, 1, 0.9)
	p.Forget(1e-3)
	if got := the(ask(p, all(2))); got != 1 { // ln t would be negative: the bound is the mean
		t.Errorf("arm %d, want the one of the larger mean", got)
	}
}

func ExampleUCBTuned() {
	fmt.Println(coins(&bandit.UCBTuned{}, 1000, 0.2, 0.8, 0.5))
	fmt.Println(coins(&bandit.UCB1{}, 1000, 0.2, 0.8, 0.5))
	// Output:
	// [3 994 3]
	// [25 887 88]
}
