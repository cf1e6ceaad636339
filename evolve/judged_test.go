package evolve_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// anytime is a model whose calls take a time that differs from run to run.
func anytime(l llm.LLM) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(rand.N(time.Second))
		return l.Generate(ctx, req)
	})
}

// Where each score takes a judge's call, no child is asked for that has no call left for its judge. So all that have a
// program are scored, and the same seeds give the same children, whatever ends first.
func TestCallsOfJudgesAreSetAside(t *testing.T) {
	for _, tt := range []struct{ calls, arms int }{{200, 1}, {97, 3}, {30, 2}} {
		var want []string
		for i := range 6 {
			synctest.Test(t, func(t *testing.T) {
				var arms []evolve.Arm
				for seed := range tt.arms {
					arms = append(arms, newGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, "0"), anytime(instant)),
						LLM: anytime(climber), N: 8, Seed: uint32(seed)}))
				}
				res := mustRun(t, evolve.Config{Arms: arms, Policy: bandit.Random{}, Budget: evolve.Budget{Calls: tt.calls}})
				scored, unscored := scoredOf(res)
				if i == 0 {
					t.Logf("%d calls of %d, %d children scored and %d not", res.Calls, tt.calls, scored, unscored)
					want = childrenOf(res)
				}
				if unscored > 0 || res.Calls < tt.calls-2 || res.Calls > tt.calls || res.Limit != "Calls" {
					t.Errorf("%d calls of %d, with %d children that have a program scored and %d not; stopped by %s", res.Calls,
						tt.calls, scored, unscored, res.Limit)
				}
				if got := childrenOf(res); !cmp.Equal(want, got) {
					t.Errorf("run %d of %d calls has other children:\n%s", i, tt.calls, cmp.Diff(want, got))
				}
			})
		}
	}
}
