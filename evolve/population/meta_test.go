package population

import (
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// Gained by hand: of 4 calls one is 0.5 sd above the best, one more than an sd, one below it, and one invalid.
func TestGained(t *testing.T) {
	child := func(score float64, valid bool) evolve.Child {
		return evolve.Child{Candidate: eval.Candidate{Program: "p", Result: eval.Result{Valid: valid, Score: score}}}
	}
	g := evolve.Generation{Before: eval.Candidate{Result: eval.Result{Valid: true, Score: 10}},
		Children: []evolve.Child{child(11, true), child(19, true), child(9, true), child(99, false)}}
	for _, tt := range []struct {
		reason string
		trial  Trial
		want   float64
	}{
		{"in standard deviations", Trial{Generation: g, Calls: 4, SD: 2}, (0.5 + 1) / 4.0},
		{"before there is one", Trial{Generation: g, Calls: 4}, 2 / 4.0},
		{"without calls", Trial{Generation: g, SD: 2}, 1.5 / 4},
		{"nothing was made", Trial{}, 0},
	} {
		if got := gained(tt.trial); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}
