package population_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// Each child says which island it is of, which direction it was given, and in which
// cell it stands if it was offered to the archive.
func TestLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		even := func(c eval.Candidate) string { return fmt.Sprint("even ", int(c.Result.Score)%2 == 0) }
		p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: slow(1), N: 12, Seed: 4,
			Archive:   &population.Islands{Of: []population.Archive{&celled{population.All(), even}, &celled{population.All(), even}}},
			Select:    population.Uniform(),
			Operators: []population.Operator{population.Rewrite{}, population.Explore{}},
		})
		res := run(t, p, 48)
		seen := map[string]int{}
		for _, g := range res.Arms[0].Generations {
			for _, c := range g.Children {
				for kind, name := range c.Labels {
					seen[kind+" "+name]++
				}
				if i, err := strconv.Atoi(c.Labels["island"]); err != nil || i < 0 || i > 1 {
					t.Errorf("child %d is of island %q", c.ID, c.Labels["island"])
				}
				if direction := c.Labels["instruction"]; (c.Operator == "explore") != (direction != "") {
					t.Errorf("child %d by %q has the direction %q", c.ID, c.Operator, direction)
				}
				want := ""
				if c.Scored() && c.Result.Valid {
					want = even(c.Candidate)
				}
				if c.Labels["cell"] != want {
					t.Errorf("child %d with the score %v stands in cell %q, want %q", c.ID, c.Result.Score, c.Labels["cell"], want)
				}
			}
		}
		for _, want := range []string{"island 0", "island 1", "cell even true"} {
			if seen[want] == 0 {
				t.Errorf("no child with the label %q: %v", want, seen)
			}
		}
	})
}

// A search of which nothing else is to be said than greedy search's children have no labels.
func TestNoLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res := run(t, newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: slow(1), N: 3}), 6)
		for _, g := range res.Arms[0].Generations {
			if i := slices.IndexFunc(g.Children, func(c evolve.Child) bool { return len(c.Labels) > 0 }); i >= 0 {
				t.Errorf("child %d has labels %v", i, g.Children[i].Labels)
			}
		}
	})
}

// celled is an archive that says in which cell a member stands.
type celled struct {
	population.Archive
	cell func(eval.Candidate) string
}

func (c *celled) Place(m population.Member) string { return c.cell(m.Candidate) }
