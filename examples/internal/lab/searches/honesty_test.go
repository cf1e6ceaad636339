package searches

import (
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// against returns the differences of searches to greedy search of one child a step, in one family.
func against(t *testing.T, f compare.Family, n int, all ...compare.Search) map[string]compare.Comparison {
	t.Helper()
	runs := study(t, compare.Config{Families: []compare.Family{f}, Searches: append(named(t, "greedy-1"), all...),
		Calls: 128, Runs: n})
	of := map[string]compare.Comparison{}
	for _, s := range all {
		var err error
		if of[s.Name], err = compare.Against(runs, s.Name, "greedy-1"); err != nil {
			t.Fatal(err)
		}
	}
	return of
}

// unable is a family with a model that has no abilities.
func unable(of compare.Family, words int) compare.Family {
	return compare.Family{Name: of.Name, Make: func(seed uint64) (compare.Problem, error) {
		p, err := of.Make(seed)
		p.LLM = landscape.Model{Words: words}
		return p, err
	}}
}

// selfCross is greedy search that asks for nothing but to cross the best program with itself.
var selfCross = compare.Population("self-cross of the best", func(compare.Setting) population.Config {
	return population.Config{Operators: []population.Operator{population.Cross{Self: true}}}
})

// With a model without abilities, searches whose prompts alone differ tie with greedy search. What is shown, asked and
// noted can then make no difference but by luck, which is the same in each run of this test.
func TestPromptsMakeNoDifferenceWithoutAbilities(t *testing.T) {
	searches := append(named(t, "softmax", "copies"), selfCross,
		compare.Population("history notes", func(compare.Setting) population.Config {
			return population.Config{Memory: []population.Memory{&population.Attempts{}}}
		}),
		compare.Population("narrow requests", func(compare.Setting) population.Config {
			return population.Config{Operators: []population.Operator{
				population.Rewrite{Label: "one line",
					Instruction: "Change exactly one statement of the program to raise its score."},
				population.Rewrite{Label: "delete",
					Instruction: "Delete what does not contribute to the program's score, or lowers it."}}}
		}))
	for _, f := range notrun.Few([]compare.Family{unable(family("additive"), 6), unable(family("traps"), 2)}, 1) {
		for search, d := range against(t, f, 12, searches...) {
			if !d.Difference.Contains(0) && d.P < 0.01 {
				t.Errorf("%s on %s is %v off greedy search, p = %v", search, f, d.Difference, d.P)
			}
		}
	}
}

// The test above would see a difference: with its abilities the model makes one of the same requests.
func TestPromptsMakeADifferenceWithAbilities(t *testing.T) {
	for _, tt := range notrun.Few([]struct {
		search compare.Search
		family compare.Family
		sign   float64
	}{
		{named(t, "softmax")[0], family("few"), 1},
		{selfCross, family("additive"), -1},
	}, 0) {
		d := against(t, tt.family, 12, tt.search)[tt.search.Name]
		if d.Difference.Contains(0) || d.P > 0.01 || d.Difference.Value*tt.sign < 0 {
			t.Errorf("%s on %s is %v off greedy search, p = %v", tt.search, tt.family, d.Difference, d.P)
		}
	}
}

// On a landscape where every step is open, an archive that beats greedy search would mean that the comparison is broken.
func TestNoArchiveBeatsGreedySearchOnAdditive(t *testing.T) {
	for search, d := range against(t, family("additive"), 8,
		named(t, notrun.Few([]string{"history", "power-law", "weighted", "cells", "fronts", "self-cross"}, 0, 3, 5)...)...) {
		if d.Difference.Low > 0 {
			t.Errorf("%s is above greedy search: %v", search, d.Difference)
		}
	}
}
