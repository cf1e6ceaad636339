package population_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// Where a gate asks a judge of some programs, calls are set aside for it: no child is without a score because its judge
// found no room, and the same seeds give the same children, whatever ends first and when the run is resumed.
func TestCallsOfGatesAreSetAside(t *testing.T) {
	late := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(rand.N(time.Second))
		return climber(ctx, req)
	})
	judge := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(rand.N(time.Second))
		return ok([]string{"VERDICT: NEW", "VERDICT: SAME"}[req.Seed%2]), nil
	})
	children := func(t *testing.T, path string) (list []string, unpaid int) {
		p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: late, N: 8, Seed: 5, Archive: population.Top(6),
			Select: population.Uniform(),
			Gates: []population.Gate{&population.Unlike{Most: 0.5, Judge: judge,
				Like: func(a, b string) float64 { return float64(len(a)+len(b)) / 40 }}}})
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Journal: j,
			Budget: evolve.Budget{Calls: 100}})
		if err != nil || res.Calls < 99 || res.Calls > 100 || res.Limit != "Calls" {
			t.Fatalf("%d calls, stopped by %s: %v", res.Calls, res.Limit, err)
		}
		for _, g := range res.Arms[0].Generations {
			if g.Limit != "" {
				unpaid++
			}
			for _, c := range g.Children {
				list = append(list, fmt.Sprint(g.Index, c.Index, c.ID, c.Parents, c.Seed, c.Result.Score, c.Err))
			}
		}
		return list, unpaid
	}
	var want []string
	for i := range 6 {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.journal")
			got, unpaid := children(t, path)
			if i == 0 {
				want = got
			}
			if unpaid > 0 || !cmp.Equal(want, got) {
				t.Errorf("run %d: %d generations without room for a judge, and other children:\n%s", i, unpaid, cmp.Diff(want, got))
			}
			if again, _ := children(t, path); !cmp.Equal(got, again) {
				t.Errorf("run %d, made again, has other children:\n%s", i, cmp.Diff(got, again))
			}
		})
	}
}
