package compare_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// against returns the difference of a search to greedy search of one child a step, in one family.
func against(t *testing.T, f compare.Family, runs int, s compare.Search) compare.Difference {
	t.Helper()
	cfg := compare.Config{Families: []compare.Family{f}, Searches: append(named(t, "greedy-1"), s), Calls: 128, Runs: runs}
	table, err := compare.NewTable(study(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	d, err := table.Against(s.Name, "greedy-1")
	if err != nil {
		t.Fatal(err)
	}
	return d[0]
}

// unable is a family with a model that has no abilities.
func unable(of compare.Family, words int) compare.Family {
	return compare.Family{Name: of.Name, Make: func(seed uint64) (compare.Problem, error) {
		p, err := of.Make(seed)
		p.LLM = compare.Model{Words: words}
		return p, err
	}}
}

func greedyWith(name string, c population.Config) compare.Search {
	return compare.Of(name, func(compare.Setting) population.Config {
		if len(c.Memory) > 0 {
			c.Memory = []population.Memory{&population.History{}}
		}
		return c
	})
}

// With a model without abilities, searches whose prompts alone differ tie with greedy search. What is shown, asked and
// noted can then make no difference but by luck, which is the same in each run of this test.
func TestPromptsMakeNoDifferenceWithoutAbilities(t *testing.T) {
	for _, s := range []compare.Search{
		named(t, "softmax")[0],
		named(t, "copies")[0],
		greedyWith("history notes", population.Config{Memory: []population.Memory{nil}}),
		greedyWith("self-cross of the best", population.Config{Operators: []population.Operator{population.Cross{Self: true}}}),
		greedyWith("narrow requests", population.Config{Operators: population.Micro(nil)}),
	} {
		for _, f := range []compare.Family{unable(compare.Additive(), 6), unable(compare.Traps(), 2)} {
			if d := against(t, f, 16, s); !d.Contains(0) && d.P < 0.01 {
				t.Errorf("%s on %s is %v off greedy search, p = %v", s, f, d, d.P)
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
		{greedyWith("self-cross of the best", population.Config{Operators: []population.Operator{population.Cross{Self: true}}}), compare.Additive(), -1},
	} {
		if d := against(t, tt.family, 16, tt.search); d.Contains(0) || d.P > 0.01 || d.Value*tt.sign < 0 {
			t.Errorf("%s on %s is %v off greedy search, p = %v", tt.search, tt.family, d, d.P)
		}
	}
}

// On a landscape where every step is open, an archive that beats greedy search would mean that the comparison is broken.
func TestNoArchiveBeatsGreedySearchOnAdditive(t *testing.T) {
	for _, s := range named(t, "history", "power-law", "weighted", "cells", "fronts", "self-cross") {
		if d := against(t, compare.Additive(), 10, s); d.Low > 0 {
			t.Errorf("%s is above greedy search: %v", s, d)
		}
	}
}
