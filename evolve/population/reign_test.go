package population

import (
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// The policy of settings by default tries each of them, however good or bad the first one is at first.
func TestAllSettingsAreTried(t *testing.T) {
	settings := []Settings{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	for _, worth := range []float64{0, 0.01, 0.3, 1} {
		for seed := range uint64(20) {
			g := newReign(Config{Settings: settings}.withDefaults())
			r, tried := rand.New(rand.NewPCG(seed, 1)), map[string]bool{}
			for range 40 {
				g.draw(r)
				tried[g.now.Name] = true
				if err := g.learn(worth); err != nil {
					t.Fatal(err)
				}
			}
			if len(tried) < 4 {
				t.Errorf("rewards of %v, seed %d: in 40 generations %d of 4 settings were tried", worth, seed, len(tried))
			}
		}
	}
}

// Gained by hand: of 4 calls one is 0.5 sd above the best, one more than an sd, one below it, and one invalid.
func TestGained(t *testing.T) {
	child := func(score float64, valid bool) evolve.Child {
		return evolve.Child{Candidate: eval.Candidate{Program: "p", Result: eval.Result{Valid: valid, Score: score}}}
	}
	g := evolve.Generation{Before: eval.Candidate{Result: eval.Result{Valid: true, Score: 10}},
		Children: []evolve.Child{child(11, true), child(19, true), child(9, true), child(99, false)}}
	for _, tt := range []struct {
		reason string
		gen    evolve.Generation
		calls  int
		sd     float64
		want   float64
	}{
		{"in standard deviations", g, 4, 2, (0.5 + 1) / 4.0},
		{"before there is one", g, 4, 0, 2 / 4.0},
		{"without calls", g, 0, 2, 1.5 / 4},
		{"nothing was made", evolve.Generation{}, 0, 0, 0},
	} {
		if got := gained(tt.gen, tt.calls, tt.sd); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}
