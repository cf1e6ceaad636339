package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// Of two models, the one whose answers improve programs gets most of the calls, and the result, the summary and the
// charges keep the two apart.
func TestSeveralModels(t *testing.T) {
	stand, err := offline.New(offline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	good := llmtest.NewServer(llmtest.Config{Reply: func(req llmtest.Request) string {
		r, err := stand.Generate(context.Background(), req.Request)
		if err != nil {
			t.Error(err)
		}
		return r.Text
	}})
	defer good.Close()
	idle := llmtest.NewServer(llmtest.Config{Reply: func(llmtest.Request) string { return "I cannot do that." }})
	defer idle.Close()
	dir := t.TempDir()
	args := strings.Fields("--T 30 --N 4 --seed 40 --breadth fixed --model small,large --model-name s,l --params-active 1000,3000 --output " + dir)
	args = append(args, "--api-base", "small="+idle.URL+",large="+good.URL)
	out := runtest.Output(t, func() {
		if err := runGreedy(t.Context(), args); err != nil {
			t.Fatal(err)
		}
	})
	found, err := filepath.Glob(filepath.Join(dir, "cp", "small+large", "*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("results %v, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var r report.Greedy
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	small, large := r.Totals["model"]["small"], r.Totals["model"]["large"]
	if small.Calls != idle.Stats().Calls || large.Calls != good.Stats().Calls || small.Calls+large.Calls != 120 {
		t.Errorf("calls %d and %d, the servers had %d and %d", small.Calls, large.Calls, idle.Stats().Calls,
			good.Stats().Calls)
	}
	if small.Calls == 0 || small.Valid != 0 || large.Improved == 0 || large.Calls < small.Calls {
		t.Errorf("small %+v, large %+v", small, large)
	}
	tokens := func(s llmtest.Stats) int {
		return s.Tokens.PromptTokens - s.Tokens.CachedTokens + s.Tokens.CompletionTokens
	}
	if want := 2 * 1000 * float64(tokens(idle.Stats())); small.FLOPs != want {
		t.Errorf("small was charged %g FLOPs, want %g", small.FLOPs, want)
	}
	if want := 2 * 3000 * float64(tokens(good.Stats())); large.FLOPs != want {
		t.Errorf("large was charged %g FLOPs, want %g", large.FLOPs, want)
	}
	for _, want := range []string{"proposer  small: ", "model", "small", "large"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary does not name %q:\n%s", want, out)
		}
	}
}
