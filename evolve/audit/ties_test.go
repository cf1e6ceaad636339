package audit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/audit"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// A best that is demoted takes along what the search has drifted to at a tie with it. So greedy search and a population of
// one program go on alike, from the best before.
func TestDemoteTakesTiesBack(t *testing.T) {
	demoted := 0
	seeds := notrun.Length(12, 40)
	for seed := range uint32(seeds) {
		var runs [2]string
		for i := range runs {
			tk := pairs(t, newScorer("steps", func(good, flattery float64) float64 { return math.Floor(4 * (good + flattery)) }))
			arm := must(evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 6, Window: 2, Seed: seed}))
			if i == 1 {
				arm = must(population.New(population.Config{Task: tk, LLM: wanderer, N: 6, Window: 2, Seed: seed}))
			}
			res := run(t, evolve.Config{Arms: []evolve.Arm{audited(t, arm, audit.Config{By: honest(), Demote: true})},
				Budget: evolve.Budget{Rounds: 20}})
			for _, g := range res.Arms[0].Generations {
				for _, a := range g.Audits {
					if a.Demoted {
						demoted++
					}
				}
				for _, c := range g.Children {
					runs[i] += fmt.Sprintf("step %d, child %d of %v: %s\n", g.Index, c.ID, c.Parents, c.Program)
				}
			}
		}
		if runs[0] != runs[1] {
			t.Fatalf("seed %d: greedy search\n%s\nand the population\n%s", seed, runs[0], runs[1])
		}
	}
	if demoted < seeds*5/2 {
		t.Errorf("%d bests were demoted, so the test sees little", demoted)
	}
}
