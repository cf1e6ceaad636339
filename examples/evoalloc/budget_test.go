package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// Each limit of the flags ends a run, and a run that one of cost ended goes on with a larger one.
func TestBudgetsEndRuns(t *testing.T) {
	for _, tt := range []struct{ flags, limit, more string }{
		{"--budget-tokens 20000", "Tokens", "--budget-tokens 30000"},
		{"--price 1,1,1 --budget-usd 0.02", "Money", "--price 1,1,1 --budget-usd 0.03"},
		{"--budget-flops 5e10", "FLOPs", "--budget-flops 8e10"},
		{"--budget-time 2s --offline-latency 400ms", "WallTime", ""},
		{"--target 0.37", "Target", ""},
	} {
		dir := t.TempDir()
		args := "--T 60 --N 8 --n-arms 2 --breadth fixed --parallel-llm 2 --offline-latency 0 --output " + dir + " "
		printed := runtest.Output(t, func() {
			if err := runBandit(t.Context(), strings.Fields(args+tt.flags)); err != nil {
				t.Fatalf("%s: %v", tt.flags, err)
			}
		})
		if priced := strings.Contains(tt.flags, "--price"); strings.Contains(printed, ", money ") != priced ||
			strings.Contains(printed, "of       s      money\n") != priced {
			t.Errorf("%s: the summary has money where there is no price, or none where there is one: %s", tt.flags, printed)
		}
		first := saved(t, dir, "challenge_*.json")
		if first.Stop == string(evolve.StopTarget) && tt.limit == "Target" {
			continue
		}
		if first.Stop != string(evolve.StopBudget) || first.Limit != tt.limit || first.FLOPs.WorstCase.OK >= 480 {
			t.Errorf("%s: stopped by %s (%s) after %d calls", tt.flags, first.Stop, first.Limit, first.FLOPs.WorstCase.OK)
		}
		if tt.more == "" {
			continue
		}
		if !strings.Contains(printed, "ended the run: with a larger one, --resume goes on") {
			t.Errorf("%s: it does not say how the run goes on: %s", tt.flags, printed)
		}
		if err := runBandit(t.Context(), strings.Fields(args+tt.more+" --resume")); err != nil {
			t.Fatalf("%s: %v", tt.more, err)
		}
		if then := saved(t, dir, "challenge_*.json"); then.FLOPs.WorstCase.OK <= first.FLOPs.WorstCase.OK {
			t.Errorf("%s: %d calls, and %d with %s", tt.flags, first.FLOPs.WorstCase.OK, then.FLOPs.WorstCase.OK, tt.more)
		}
	}
}

// A real model is asked as the flags say, of the command line or of a file.
func TestSamplingFlags(t *testing.T) {
	var body map[string]any
	front := recording(t, func(text []byte) {
		if err := json.Unmarshal(text, &body); err != nil {
			t.Error(err)
		}
	})
	args := []string{"--model", "qwen3-8b", "--temperature", "0.9", "--max-tokens", "321", "--top-p", "0.5",
		"--reasoning-effort", "low", "--extra", `{"top_k": 40}`, "--T", "1", "--N", "1", "--parallel-llm", "1", "--journal=",
		"--output", t.TempDir(), "--api-base", front}
	if err := runGreedy(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]any{
		"temperature": 0.9, "max_tokens": 321.0, "top_p": 0.5, "reasoning_effort": "low", "top_k": 40.0,
	} {
		if body[field] != want {
			t.Errorf("the model was asked with %s %v, want %v", field, body[field], want)
		}
	}
}

// recording returns the URL of a model that has note see the body of each request first.
func recording(t *testing.T, note func(body []byte)) string {
	t.Helper()
	srv := llmtest.NewServer(llmtest.Config{})
	t.Cleanup(srv.Close)
	to, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		note(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + strings.TrimPrefix(srv.URL, strings.TrimSuffix(to.String(), "/"))
}

// With weights each of several models has its share of the calls, whatever its children score.
func TestModelsByWeight(t *testing.T) {
	asked := map[string]int{}
	var mu sync.Mutex
	base := recording(t, func(text []byte) {
		var body struct{ Model string }
		if err := json.Unmarshal(text, &body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		asked[body.Model]++
		mu.Unlock()
	})
	args := "--model qwen3-8b=0.9,qwen3-14b=0.1 --T 1 --N 64 --breadth fixed --journal= --output " + t.TempDir() +
		" --api-base " + base
	if err := runGreedy(t.Context(), strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	few, many := asked["Qwen/Qwen3-14B"], asked["Qwen/Qwen3-8B"]
	if few+many < 64 || few < 1 || few > 20 { // of Binomial(64, 0.1) more than 20 have a chance below 10⁻⁶
		t.Errorf("the models were asked %v", asked)
	}
	for _, models := range []string{"qwen3-8b=0.9,qwen3-14b", "qwen3-8b=x,qwen3-14b=1", "qwen3-8b=0,qwen3-14b=1",
		"qwen3-8b=1"} {
		if err := runGreedy(t.Context(), []string{"--model", models, "--api-base", base}); err == nil {
			t.Errorf("--model %s is accepted", models)
		}
	}
}

// A generation has a line if it has a better best. The rules of FLOPs are shown where they differ.
func TestRows(t *testing.T) {
	printed := runtest.Output(t, func() {
		if err := runGreedy(t.Context(), strings.Fields("--T 40 --N 1 --breadth fixed --offline-latency 0 --output "+
			t.TempDir())); err != nil {
			t.Fatal(err)
		}
	})
	_, table, _ := strings.Cut(printed, "generation ")
	table, rest, _ := strings.Cut(table, "\n\n")
	if n := strings.Count(table, "\n"); n < 1 || n >= 30 || strings.Contains(rest, "rule") {
		t.Errorf("%d rows, and rules that are the same are shown apart: %s", n, rest)
	}
	srv := llmtest.NewServer(llmtest.Config{Fault: func(req llmtest.Request) llmtest.Fault {
		if req.Ordinal == 2 {
			return "no usage"
		}
		return ""
	}})
	defer srv.Close()
	printed = runtest.Output(t, func() {
		args := "--model qwen3-8b --T 1 --N 4 --journal= --output " + filepath.Join(t.TempDir(), "r") + " --api-base " +
			srv.URL
		if err := runGreedy(t.Context(), strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
	})
	if !strings.Contains(printed, "worst_case") {
		t.Errorf("rules that differ are not shown: %s", printed)
	}
}

// A run whose limit is left out on --resume would go on without one. It is refused, and asks for nothing.
func TestLimitLeftOut(t *testing.T) {
	dir := t.TempDir()
	run := "--T 4 --N 4 --seed 7 --offline-latency 0 --output " + dir
	small := runGreedy(t.Context(), strings.Fields(run+" --budget-usd 0.01 --price 1,1,1"))
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Error("a budget that cannot hold one call begins a run")
	}
	refused(t, "no room for one call", small, "Budget.Money is 0.01: one call may cost 0.01", "--max-tokens 16000")
	if err := runGreedy(t.Context(), strings.Fields(run+" --budget-tokens 20000")); err != nil {
		t.Fatal(err)
	}
	err := runGreedy(t.Context(), strings.Fields(run+" --resume"))
	refused(t, "without the limit", err, "--budget-tokens ended this run")
	for _, limit := range []string{"20000", "60000"} {
		if err := runGreedy(t.Context(), strings.Fields(run+" --resume --budget-tokens "+limit)); err != nil {
			t.Errorf("with %s: %v", limit, err)
		}
	}
}

// A target that the initial program has reached is a result.
func TestTargetOfTheStart(t *testing.T) {
	for name, run := range map[string]func(context.Context, []string) error{"greedy": runGreedy, "bandit": runBandit} {
		dir := t.TempDir()
		if err := run(t.Context(), strings.Fields("--target 0.3 --T 2 --N 4 --offline-latency 0 --output "+dir)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var results []string
		filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".json") {
				results = append(results, path)
			}
			return err
		})
		if len(results) != 1 {
			t.Errorf("%s: results %v, want one", name, results)
		}
	}
}
