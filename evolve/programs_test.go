package evolve_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A run whose results take more than the memory has room for evaluates no program twice, and says how many evaluations
// it made. A budget of evaluations ends it at the same child with a journal and without.
func TestEvaluationsBeyondTheMemory(t *testing.T) {
	const distinct, evaluations = 300, 306 // of 256 KiB each: 75 MiB, where the memory has 64
	artifact := strings.Repeat("x", 64<<10)
	run := func(path string) (*evolve.Result, int) {
		var made, asked atomic.Int64
		tk, err := task.New(task.Spec{Name: "large", Language: "text", Initial: "0",
			Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
				n := made.Add(1)
				return eval.Result{Valid: true, Score: float64(n), Metrics: map[string]float64{"n": float64(n)},
					Artifacts: map[string]string{"a": artifact, "b": artifact, "c": artifact, "d": artifact[:60<<10]}}, nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		l := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			n := asked.Add(1)
			if n <= 2*distinct { // each program twice, the second time after all others
				n = 1 + (n-1)%distinct
			}
			return ok(fmt.Sprintf("```text\n%d\n```", n), req.Seed), nil
		})
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: tk, LLM: l, N: 50, Window: 1, Seed: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		cfg := evolve.Config{Arms: list, Budget: evolve.Budget{Evaluations: evaluations}}
		if path != "" {
			cfg.Journal = openJournal(t, path)
			defer cfg.Journal.Close()
		}
		return mustRun(t, cfg), int(made.Load())
	}
	var calls [2]int
	for i, path := range []string{"", filepath.Join(t.TempDir(), "run.journal")} {
		res, made := run(path)
		if made != evaluations || res.Evaluations != made {
			t.Errorf("journal %q: %d evaluations made, the result says %d, want %d", path, made, res.Evaluations, evaluations)
		}
		for _, g := range res.Arms[0].Generations {
			for _, c := range g.Children {
				if c.Result.Metrics["n"] != c.Result.Score || c.Scored() && c.Result.Score == 0 {
					t.Fatalf("journal %q: child %d scores %v with the metrics %v", path, c.ID, c.Result.Score, c.Result.Metrics)
				}
			}
		}
		calls[i] = res.Calls
	}
	if calls[0] != calls[1] {
		t.Errorf("%d calls without a journal, %d with one", calls[0], calls[1])
	}
}
