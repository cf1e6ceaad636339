package bandit_test

import (
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

func TestTally(t *testing.T) {
	var tally bandit.Tally
	if tally.Pulls(3) != 0 || tally.Mean(3) != 0 || tally.Total() != 0 || tally.Overall() != 0 {
		t.Error("an empty tally is not empty")
	}
	for _, o := range []struct {
		arm    int
		reward float64
	}{{2, 1}, {0, 0.25}, {2, 0.5}, {2, 0}} {
		tally.Add(o.arm, o.reward)
	}
	for arm, want := range []struct{ pulls, mean float64 }{{1, 0.25}, {0, 0}, {3, 0.5}, {0, 0}} {
		if tally.Pulls(arm) != want.pulls || math.Abs(tally.Mean(arm)-want.mean) > 1e-15 {
			t.Errorf("arm %d: %v pulls of mean %v, want %v", arm, tally.Pulls(arm), tally.Mean(arm), want)
		}
	}
	if tally.Total() != 4 || math.Abs(tally.Overall()-0.4375) > 1e-15 {
		t.Errorf("%v pulls of mean %v in all, want 4 of 0.4375", tally.Total(), tally.Overall())
	}
}

// With discounting, Pulls is Σγᵏ and Mean is Σγᵏx/Σγᵏ over the arm's outcomes, k updates old.
func TestTallyDiscount(t *testing.T) {
	const gamma = 0.9
	var tally bandit.Tally
	var arms []int
	var rewards []float64
	rng := newRand(1)
	for range 200 {
		arm, x := rng.IntN(3), rng.Float64()
		tally.Discount(gamma)
		tally.Add(arm, x)
		arms, rewards = append(arms, arm), append(rewards, x)
	}
	for arm := range 3 {
		var n, sum float64
		for i, a := range arms {
			if w := math.Pow(gamma, float64(len(arms)-1-i)); a == arm {
				n += w
				sum += w * rewards[i]
			}
		}
		if math.Abs(tally.Pulls(arm)-n) > 1e-12 || math.Abs(tally.Mean(arm)-sum/n) > 1e-12 {
			t.Errorf("arm %d: %v pulls of mean %v, want %v of %v", arm, tally.Pulls(arm), tally.Mean(arm), n, sum/n)
		}
	}
}

func TestTallyMean(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		rewards func(i int) float64
		want    float64
	}{
		{"equal rewards leave no rounding, so ties stay ties", func(int) float64 { return 0.1 }, 0.1},
		{"sums of the largest float64 overflow, means do not", func(int) float64 { return math.MaxFloat64 }, math.MaxFloat64},
		{"nor do those of the smallest", func(int) float64 { return -math.MaxFloat64 }, -math.MaxFloat64},
	} {
		var tally bandit.Tally
		for i := range 1000 {
			tally.Add(0, tt.rewards(i))
		}
		if tally.Mean(0) != tt.want || tally.Overall() != tt.want {
			t.Errorf("%s: means %v and %v, want %v", tt.reason, tally.Mean(0), tally.Overall(), tt.want)
		}
	}
	for _, gamma := range []float64{1, 0.5, 1e-300} { // sizes swing as far as they can
		var tally bandit.Tally
		for i := range 1000 {
			tally.Discount(gamma)
			tally.Add(0, math.MaxFloat64*float64(1-2*(i%2)))
			if m := tally.Mean(0); math.IsInf(m, 0) || math.IsNaN(m) {
				t.Fatalf("gamma %v: mean %v after %d outcomes", gamma, m, i+1)
			}
		}
	}
}
