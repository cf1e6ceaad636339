package evolve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// flood is a result of many times the metrics and artifacts that are kept.
func flood(context.Context, string) (eval.Result, error) {
	r := eval.Result{Valid: true, Score: 1, Metrics: map[string]float64{}, Artifacts: map[string]string{}}
	for i := range 20 * eval.MaxMetrics {
		r.Metrics[fmt.Sprint("metric", i)] = 1
		r.Artifacts[fmt.Sprint("artifact", i)] = strings.Repeat("x", 100)
	}
	return r, nil
}

// What programs and endpoints say of themselves fills no journal.
func TestJournalIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	talks := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		r := ok(fmt.Sprintf("```text\n%d\n```", req.Seed), req.Seed)
		r.Attempts[0].FinishReason = strings.Repeat("stop", 1<<18)
		return r, nil
	})
	tt := task.WithEvaluator(newNumbers(t, "0"), eval.Func(flood))
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: tt, LLM: talks, N: 2, Seed: 40})
	if err != nil {
		t.Fatal(err)
	}
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Journal: j,
		Budget: evolve.Budget{Rounds: 1}})
	if err != nil || len(result.Arms[0].Generations) != 1 {
		t.Fatalf("error %v", err)
	}
	for _, c := range result.Arms[0].Generations[0].Children {
		if n, m := len(c.Result.Metrics), len(c.Attempts[0].FinishReason); n != eval.MaxMetrics || m > 64 {
			t.Errorf("child %d: %d metrics, a finish reason of %d bytes", c.Index, n, m)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(3 * (eval.MaxMetrics*40 + eval.MaxArtifactBytes + 4096)); info.Size() > most {
		t.Errorf("the journal of three programs and two calls has %d bytes, want at most %d", info.Size(), most)
	}
}
