package population_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
)

// forty is a population of 40 in steps of 512 children with a window of 64.
func forty(t *testing.T, l llm.LLM, order evolve.Order) *population.Population {
	tk, err := slots()
	if err != nil {
		t.Fatal(err)
	}
	return newPopulation(t, population.Config{Task: tk, LLM: l, N: 512, Window: 64, Order: order, Seed: 9,
		Archive: population.Top(40), Select: population.Weighted(10), Gates: []population.Gate{&population.Unlike{Most: 0.999}},
		Operators: []population.Operator{population.Rewrite{}, population.Explore{}, population.Cross{}}})
}

// A step of many children with a window keeps the slots busy where children are taken in as they end.
func TestSteadyStateKeepsSlotsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &runtest.Watched{LLM: llm.Func(editor)}
		gen, err := forty(t, llm.Limit(p, 16), evolve.AsTheyEnd).Step(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if busy := p.Busy(); busy < 15.5 || len(gen.Children) != 512 {
			t.Errorf("%.2f of 16 slots are busy with %d children", busy, len(gen.Children))
		}
	})
}

// By index the number of slots does not matter.
func TestSlotsDoNotMatterByIndex(t *testing.T) {
	var want string
	for _, slots := range []int{1, 3, 16} {
		synctest.Test(t, func(t *testing.T) {
			got := ""
			for _, g := range run(t, forty(t, llm.Limit(&runtest.Watched{LLM: llm.Func(editor)}, slots), evolve.ByIndex),
				512).Arms[0].Generations {
				for _, c := range g.Children {
					got += fmt.Sprintln(c.ID, c.Parents, c.Operator, c.Seed, c.Result.Score, c.Err)
				}
			}
			if want == "" {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d slots come to other children:\n%s", slots, diff)
			}
		})
	}
}
