package compare_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// against returns the differences of searches to greedy search of one child a step, in one family.
func against(t *testing.T, f compare.Family, runs int, searches ...compare.Search) []compare.Difference {
	t.Helper()
	cfg := compare.Config{Families: []compare.Family{f}, Searches: append(named(t, "greedy-1"), searches...), Calls: 128, Runs: runs}
	table, err := compare.NewTable(study(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	var all []compare.Difference
	for _, s := range searches {
		d, err := table.Against(s.Name, "greedy-1")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d...)
	}
	return all
}

// unable is a family with a model that has no abilities.
func unable(of compare.Family, words int) compare.Family {
	return compare.Family{Name: of.Name, Make: func(seed uint64) (compare.Problem, error) {
		p, err := of.Make(seed)
		p.LLM = compare.Model{Words: words}
		return p, err
	}}
}

// selfCross is greedy search that asks for nothing but to cross the best program with itself.
var selfCross = compare.Of("self-cross of the best", func(compare.Setting) population.Config {
	return population.Config{Operators: []population.Operator{population.Cross{Self: true}}}
})

// With a model without abilities, searches whose prompts alone differ tie with greedy search. What is shown, asked and
// noted can then make no difference but by luck, which is the same in each run of this test.
func TestPromptsMakeNoDifferenceWithoutAbilities(t *testing.T) {
	searches := append(named(t, "softmax", "copies"), selfCross,
		compare.Of("history notes", func(compare.Setting) population.Config {
			return population.Config{Memory: []population.Memory{&population.History{}}}
		}),
		compare.Of("narrow requests", func(compare.Setting) population.Config {
			return population.Config{Operators: []population.Operator{
				population.Rewrite{Label: "one line", Instruction: "Change exactly one statement of the program to raise its score."},
				population.Rewrite{Label: "delete", Instruction: "Delete what does not contribute to the program's score, or lowers it."}}}
		}))
	for _, f := range []compare.Family{unable(compare.Additive(), 6), unable(compare.Traps(), 2)} {
		for _, d := range against(t, f, 12, searches...) {
			if !d.Contains(0) && d.P < 0.01 {
				t.Errorf("%s on %s is %v off greedy search, p = %v", d.Search, f, d, d.P)
			}
		}
	}
}

// The test above would see a difference: with its abilities the model makes one of the same requests.
func TestPromptsMakeADifferenceWithAbilities(t *testing.T) {
	for _, tt := range []struct {
		search compare.Search
		family compare.Family
		sign   float64
	}{
		{named(t, "softmax")[0], compare.Few(), 1},
		{selfCross, compare.Additive(), -1},
	} {
		d := against(t, tt.family, 12, tt.search)[0]
		if d.Contains(0) || d.P > 0.01 || d.Value*tt.sign < 0 {
			t.Errorf("%s on %s is %v off greedy search, p = %v", d.Search, tt.family, d, d.P)
		}
	}
}

// On a landscape where every step is open, an archive that beats greedy search would mean that the comparison is broken.
func TestNoArchiveBeatsGreedySearchOnAdditive(t *testing.T) {
	for _, d := range against(t, compare.Additive(), 8, named(t, "history", "power-law", "weighted", "cells", "fronts", "self-cross")...) {
		if d.Low > 0 {
			t.Errorf("%s is above greedy search: %v", d.Search, d)
		}
	}
}
