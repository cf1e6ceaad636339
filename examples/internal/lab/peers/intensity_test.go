package peers_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/lab/peers"
)

// The shares by hand, from the formulas of AdaEvolve.
func TestIntensity(t *testing.T) {
	for _, tt := range []struct {
		reason string
		gains  []float64
		want   float64 // I
	}{
		{"at first it explores most, but for ε", nil, 0.15 + 0.35/(1+1e-4)},
		{"G = 0.1·0.5² = 0.025", []float64{0.5}, 0.15 + 0.35/(1+math.Sqrt(0.025+1e-8))},
		{"G = 0.9·0.025 once nothing is gained", []float64{0.5, 0}, 0.15 + 0.35/(1+math.Sqrt(0.0225+1e-8))},
		{"a gain counts as at most 1", []float64{7}, 0.15 + 0.35/(1+math.Sqrt(0.1+1e-8))},
		{"what is below 0 is no gain", []float64{-7}, 0.15 + 0.35/(1+1e-4)},
		{"what is not finite changes nothing", []float64{0.5, math.NaN(), math.Inf(1)}, 0.15 + 0.35/(1+math.Sqrt(0.025+1e-8))},
	} {
		a := &peers.Intensity{}
		for _, g := range tt.gains {
			a.Update(bandit.Pull{}, g)
		}
		p := make([]float64, 3)
		a.Probs(p, bandit.Round{Open: []bool{true, true, true}})
		for i, want := range []float64{tt.want, 0.7 * (1 - tt.want), 0.3 * (1 - tt.want)} {
			if math.Abs(p[i]-want) > 1e-12 {
				t.Errorf("%s: share %d is %v, want %v", tt.reason, i, p[i], want)
			}
		}
		clear(p)
		a.Probs(p, bandit.Round{Open: []bool{true, false, true}})
		if want := tt.want / (tt.want + 0.3*(1-tt.want)); p[1] != 0 || math.Abs(p[0]-want) > 1e-12 {
			t.Errorf("%s: with exploit closed the shares are %v", tt.reason, p)
		}
	}
}

// Gains are relative to the best so far, of whatever island.
func TestAdaEvolveCredit(t *testing.T) {
	credit := peers.AdaEvolve(peers.Setting{}).Credit
	birth := func(parent, score float64, valid bool) population.Birth {
		c := evolve.Child{}
		c.Program, c.Result.Score, c.Result.Valid = "p", score, valid
		m := &population.Member{}
		m.Result.Score, m.Result.Valid = parent, true
		return population.Birth{Child: c, Parent: m}
	}
	for i, tt := range []struct {
		reason string
		b      population.Birth
		want   float64
	}{
		{"a tenth above the initial program", birth(2, 2.2, true), 0.1},
		{"better than its parent, but not than the best", birth(2, 2.1, true), 0},
		{"invalid", birth(2.2, 9, false), 0},
		{"a gain above 1 counts as 1", birth(2, 22, true), 1},
	} {
		if got, ok := credit(tt.b); !ok || math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%d, %s: credit %v, %v, want %v", i, tt.reason, got, ok, tt.want)
		}
	}
}

// Exploration fades while scores rise, and comes back when they stand still.
func ExampleIntensity() {
	a := &peers.Intensity{}
	for _, gain := range []float64{0, 0.4, 0.4, 0, 0, 0, 0, 0, 0, 0, 0} {
		a.Update(bandit.Pull{}, gain)
		fmt.Printf("%.2f ", a.I())
	}
	fmt.Println(a)
	// Output: 0.50 0.46 0.45 0.45 0.45 0.45 0.46 0.46 0.46 0.46 0.46 Intensity(0.15 to 0.5)
}
