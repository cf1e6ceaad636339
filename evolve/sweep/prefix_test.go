package sweep_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
)

// A greedy run contains the run of every smaller number of generations, child for child: that is what lets one run serve
// every budget. It holds even if calls bring no answer.
func TestRunsContainShorterOnes(t *testing.T) {
	for _, tt := range []struct {
		reason string
		fails  func(seed uint32) bool
	}{
		{"every call is answered", func(uint32) bool { return false }},
		{"a fifth of the calls fail, and are not made up for", func(seed uint32) bool { return seed%5 == 0 }},
	} {
		plan := func(budgets ...int) sweep.Plan {
			p := grid(2, budgets, sweep.Greedy(1), sweep.Greedy(4), sweep.Greedy(8))
			inner := p.Models[0].LLM
			p.Models[0].LLM = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				if tt.fails(req.Seed) {
					err := errors.New("bad request")
					return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindOther, Err: err.Error()}}},
						&llm.Error{Status: llm.Failed, Kind: llm.KindOther, Err: err}
				}
				return inner.Generate(ctx, req)
			})
			return p
		}
		long, all := plan(8, 16, 64), t.TempDir()
		scores := map[sweep.Cell]float64{}
		for _, s := range made(t, long, sweep.Config{Dir: all, Retry: llm.RetryConfig{Max: -1}}).Scores {
			scores[s.Cell] = s.Best
		}
		longer := map[[2]int]report.Greedy{}
		for _, r := range long.Runs() {
			longer[[2]int{r.N, int(r.Seed)}] = saved(t, all, r)
		}
		for _, c := range []int{8, 16, 64} {
			short, dir := plan(c), t.TempDir()
			made(t, short, sweep.Config{Dir: dir, Retry: llm.RetryConfig{Max: -1}})
			for _, r := range short.Runs() {
				got, want := longer[[2]int{r.N, int(r.Seed)}], saved(t, dir, r)
				if len(want.Trajectory) != r.T+1 {
					t.Fatalf("%s: %v has %d generations", tt.reason, r, len(want.Trajectory)-1)
				}
				if diff := cmp.Diff(timeless(want, r.T), timeless(got, r.T),
					cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
					t.Errorf("%s: %v is not what the longer run begins with (-alone +within):\n%.2000s", tt.reason, r, diff)
				}
				if best, found := scores[r.Cells()[0]]; !found || best != want.FinalFitness {
					t.Errorf("%s: %v scores %v, and its cell in the longer run %v", tt.reason, r, want.FinalFitness, best)
				}
			}
		}
	}
}

// timeless returns the trajectory up to a generation without its times.
func timeless(g report.Greedy, last int) any {
	rows := g.Trajectory[:last+1]
	for i := range rows {
		rows[i].Seconds = 0
	}
	return rows
}
