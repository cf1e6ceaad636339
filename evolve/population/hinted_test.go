package population_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// slowness finds a hint of weight 0.5 for each "slow" in a program.
var slowness = task.HintsFunc(func(program string) (hints []task.Hint, err error) {
	if program == "unread" {
		return nil, errors.New("cannot read it")
	}
	for i := range strings.Count(program, "slow") {
		hints = append(hints, task.Hint{Line: i + 1, Text: "slow", Weight: 0.5})
	}
	return hints, nil
})

func birth(parent, child string) population.Birth {
	valid := eval.Result{Valid: true}
	return population.Birth{
		Child:  evolve.Child{Candidate: eval.Candidate{Program: child, Result: valid}},
		Parent: &population.Member{Candidate: eval.Candidate{Program: parent, Result: valid}},
	}
}

func TestHinted(t *testing.T) {
	paid := func(reward float64) population.Credit {
		return func(population.Birth) (float64, bool) { return reward, true }
	}
	for _, tt := range []struct {
		why           string
		parent, child string
		reward        float64
		weight        float64
		want          float64
	}{
		{"one hint more", "fast", "slow", 1, 0.4, 0.8},
		{"as many as the parent", "slow", "slow", 1, 1, 1},
		{"fewer than the parent, which is no gain", "slow slow", "slow", 0.5, 1, 0.5},
		{"a second one counts of what is left", "slow", "slow slow", 1, 1, 0.75},
		{"no weight", "fast", "slow", 1, 0, 1},
		{"no reward to lower", "fast", "slow", 0, 1, 0},
		{"a child that cannot be read has no penalty", "slow", "unread", 1, 1, 1},
		{"nor has a parent", "unread", "slow", 1, 1, 0.5},
		{"no program", "fast", "", 1, 1, 1},
	} {
		got, ok := population.Hinted(paid(tt.reward), slowness, tt.weight)(birth(tt.parent, tt.child))
		if !ok || math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%s: %v, %v, want %v", tt.why, got, ok, tt.want)
		}
	}
	none := population.Hinted(func(population.Birth) (float64, bool) { return 0, false }, slowness, 1)
	if _, ok := none(birth("fast", "slow")); ok {
		t.Error("what nothing is learned from has a reward")
	}
}

func TestHintedRefusesWeights(t *testing.T) {
	for _, w := range []float64{-0.1, 1.1, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a weight of %v is taken", w)
				}
			}()
			population.Hinted(nil, slowness, w)
		}()
	}
}

func ExampleHinted() {
	lines := task.HintsFunc(func(program string) ([]task.Hint, error) {
		return []task.Hint{{Text: "long", Weight: min(float64(len(program))/100, 1)}}, nil
	})
	credit := population.Hinted(population.Rank, lines, 0.5)
	config := population.Config{Credit: credit} // beside the task, the model and the rest
	fmt.Println(config.Credit != nil)
	// Output: true
}
