package population_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// heavyTail is the latency of calls.
var heavyTail = llmtest.LogNormal{Median: 200 * time.Millisecond, Sigma: 1, Cap: 5 * time.Second}

// places is a model each call of which takes its time by its seed. It notes when calls began and ended.
type places struct {
	mu    sync.Mutex
	spans [][2]time.Time
}

func (p *places) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	begin := time.Now()
	time.Sleep(heavyTail.Draw(rand.New(rand.NewPCG(uint64(req.Seed), 5))))
	p.mu.Lock()
	p.spans = append(p.spans, [2]time.Time{begin, time.Now()})
	p.mu.Unlock()
	return editor(ctx, req)
}

// busy is the mean number of calls under way from the first until the last is sent.
func (p *places) busy() float64 {
	first, last := p.spans[0][0], p.spans[0][0]
	for _, s := range p.spans {
		if s[0].Before(first) {
			first = s[0]
		}
		if s[0].After(last) {
			last = s[0]
		}
	}
	var sum time.Duration
	for _, s := range p.spans {
		end := s[1]
		if end.After(last) {
			end = last
		}
		sum += end.Sub(s[0])
	}
	return sum.Seconds() / last.Sub(first).Seconds()
}

// forty is a population of 40 in steps of 512 children with a window of 64.
func forty(t *testing.T, l llm.LLM, order evolve.Order) *population.Population {
	tk, err := slots()
	if err != nil {
		t.Fatal(err)
	}
	return newPopulation(t, population.Config{Task: tk, LLM: l, N: 512, Window: 64, Order: order, Seed: 9,
		Archive: population.Top(40), Select: population.Weighted(10), Gates: []population.Gate{population.Unseen()},
		Operators: []population.Operator{population.Rewrite{}, population.Explore{}, population.Cross{}}})
}

// A step of many children with a window keeps the slots busy where children are taken in as they end.
func TestSteadyStateKeepsSlotsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &places{}
		gen, err := forty(t, llm.Limit(p, 16), evolve.AsTheyEnd).Step(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if busy := p.busy(); busy < 15.5 || len(gen.Children) != 512 {
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
			for _, g := range run(t, forty(t, llm.Limit(&places{}, slots), evolve.ByIndex), 512).Arms[0].Generations {
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
