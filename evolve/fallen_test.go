package evolve_test

import (
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// falling is an arm whose best has these scores, step by step: it scores it again.
type falling struct {
	scores []float64
	at     int
}

func (f *falling) Best() eval.Candidate {
	return eval.Candidate{Program: "p", Result: eval.Result{Valid: true, Score: f.scores[f.at]}}
}
func (f *falling) Done() bool { return f.at == len(f.scores)-1 }
func (f *falling) Step(context.Context, *evolve.Turn) (evolve.Generation, error) {
	before := f.Best()
	f.at++
	return evolve.Generation{Index: f.at, Before: before, Best: f.Best()}, nil
}

// A run's best is the best of its arms of now. What was luck does not stay in its result.
func TestABestThatFalls(t *testing.T) {
	for _, tt := range []struct {
		reason string
		arms   [][]float64
		best   float64
		arm    int
	}{
		{"the only one falls", [][]float64{{0, 9, 4}}, 4, 0},
		{"another is better then", [][]float64{{0, 9, 4}, {0, 5, 6}}, 6, 1},
		{"another falls, which was not the best", [][]float64{{0, 9, 10}, {0, 8, 2}}, 10, 0},
		{"it falls to a tie, and keeps its place", [][]float64{{0, 9, 5}, {0, 5, 5}}, 5, 0},
	} {
		var arms []evolve.Arm
		for _, scores := range tt.arms {
			arms = append(arms, &falling{scores: scores})
		}
		res := mustRun(t, evolve.Config{Arms: arms, Policy: &bandit.Random{}, Budget: evolve.Budget{Rounds: 20}})
		if res.Best.Result.Score != tt.best || res.BestArm != tt.arm {
			t.Errorf("%s: the best is %v of arm %d, want %v of arm %d", tt.reason, res.Best.Result.Score, res.BestArm, tt.best,
				tt.arm)
		}
	}
}
