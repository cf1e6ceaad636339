package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

func TestBadInput(t *testing.T) {
	t.Setenv("LLM_API_BASE", "")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want []string // what the one line says
	}{
		{"--task nope", []string{`"nope"`, "cp, mmd, ht"}},
		{"--model nope", []string{`"nope"`, "offline, qwen3-8b, qwen3-14b, llama-8b"}},
		{"--algo nope", []string{`"nope"`, "ucb, exp3p, thompson, random, ei"}},
		{"--T 0", []string{"--T is 0"}},
		{"--N 0", []string{"--N is 0"}},
		{"--n-arms -3", []string{"--n-arms is -3"}},
		{"--parallel-llm 0", []string{"--parallel-llm is 0"}},
		{"--in-flight 0", []string{"--in-flight is 0"}},
		{"--T-cap-per-arm -1", []string{"--T-cap-per-arm is -1"}},
		{"--T two", []string{`"two"`, "--help"}},
		{"--arm-seed-base 4294967290", []string{"--arm-seed-base is 4294967290"}},
		{"--N 100000000", []string{"--N is 100000000", "100000"}},
		{"--T 9223372036854775807", []string{"--T is 9223372036854775807"}},
		{"--n-arms 100000000", []string{"--n-arms is 100000000"}},
		{"--api-base http://127.0.0.1:1/v1", []string{"--api-base", "--model"}},
		{"--model qwen3-8b --api-base http://127.0.0.1:1/v1 --min-rate 5", []string{"--min-rate", "--stream"}},
		{"--model qwen3-8b --params-active -3", []string{"--params-active is -3"}},
		{"--model ../up --model-name x --params-active 5", []string{`"../up"`}},
		{"--journal " + filepath.Join(file, "journal"), []string{file}},
		{"extra", []string{`"extra"`}},
		{"--no-such-flag", []string{"no-such-flag"}},
		{"--model qwen3-8b", []string{"LLM_API_BASE"}},
		{"--model qwen3-8b --api-base localhost:8000/v1", []string{"localhost:8000/v1"}},
		{"--model qwen3-8b --api-base http://", []string{"http://"}},
		{"--output " + file, []string{file}},
	} {
		err := run(t.Context(), append([]string{"--output", t.TempDir()}, strings.Fields(tt.args)...))
		var usage *cli.UsageError
		if !errors.As(err, &usage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a usage error in one line", tt.args, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to say %q", tt.args, err, want)
			}
		}
	}
}

// report reads the one result under dir.
func report(t *testing.T, dir, pattern string) evolve.BanditReport {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "bandit", "*", "*", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("results %v, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var r evolve.BanditReport
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	program := strings.TrimSuffix(found[0], ".json") + ".js"
	if text, err := os.ReadFile(program); err != nil || len(text) == 0 {
		t.Errorf("the best program: %v", err)
	}
	return r
}

func TestRunSavesItsResult(t *testing.T) {
	for _, algo := range cli.PolicyKeys() {
		dir := t.TempDir()
		args := "--T 6 --N 8 --n-arms 3 --offline-latency 0 --algo " + algo + " --output " + dir
		if err := run(t.Context(), strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		r := report(t, dir, algo+"_C48_T6_K3_seed0.json")
		if r.FinalFitness < 0.364237 || len(r.Selections) != 6 || r.FLOPs.WorstCase.OK != 48 || r.Stop != evolve.StopBudget {
			t.Errorf("%s: fitness %v after %d rounds, stopped by %s", algo, r.FinalFitness, len(r.Selections), r.Stop)
		}
	}
}

// Against a real endpoint, here one that answers with the program it is shown.
func TestRunOverHTTP(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Key: "secret"})
	defer srv.Close()
	t.Setenv("LLM_API_BASE", srv.URL)
	t.Setenv("LLM_API_KEY", "secret")
	dir := t.TempDir()
	if err := run(t.Context(), strings.Fields("--model qwen3-8b --T 4 --N 4 --n-arms 2 --task mmd --output "+dir)); err != nil {
		t.Fatal(err)
	}
	if r := report(t, dir, "ucb_C16_T4_K2_seed0.json"); r.Model != "qwen3-8b" || r.Active != 8_190_726_144 || r.FLOPs.WorstCase.OK != 16 {
		t.Errorf("report %+v", r.FLOPs.WorstCase)
	}
	if srv.Stats().Calls != 16 {
		t.Errorf("%d calls, want 16", srv.Stats().Calls)
	}
}

func TestCancelSavesAPartialResult(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	err := run(ctx, strings.Fields("--T 1000 --N 8 --n-arms 3 --offline-latency 20ms --grace 0s --output "+dir))
	if !errors.Is(err, cli.ErrCanceled) {
		t.Fatalf("error %v", err)
	}
	if r := report(t, dir, "*.partial.json"); r.Stop != evolve.StopCanceled || len(r.Selections) == 0 {
		t.Errorf("stopped by %s after %d rounds", r.Stop, len(r.Selections))
	}
}

// Stopped and resumed, a run comes to the result of one that was not; made again it is refused without
// --resume, and with it prints the result.
func TestResume(t *testing.T) {
	const args = "--T 30 --N 8 --n-arms 3 --offline-latency 5ms --grace 0s --output "
	whole, dir := t.TempDir(), t.TempDir()
	if err := run(t.Context(), strings.Fields(args+whole)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	if err := run(ctx, strings.Fields(args+dir)); !errors.Is(err, cli.ErrCanceled) {
		t.Fatalf("error %v", err)
	}
	if err := run(t.Context(), strings.Fields(args+dir)); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("an existing journal was not refused: %v", err)
	}
	for range 2 {
		if err := run(t.Context(), strings.Fields(args+dir+" --resume")); err != nil {
			t.Fatal(err)
		}
		want, got := report(t, whole, "*.json"), report(t, dir, "*.json")
		if !slices.Equal(want.Selections, got.Selections) || !slices.Equal(want.Rewards, got.Rewards) || got.Stop != evolve.StopBudget {
			t.Errorf("resumed: %v with %v, want %v with %v", got.Selections, got.Rewards, want.Selections, want.Rewards)
		}
	}
	var usage *cli.UsageError
	if err := run(t.Context(), strings.Fields(args+dir+" --resume --bandit-seed 0 --timeout 1s --n-arms 3 --model offline --offline-latency 6ms --N 8 --T 30 --algo ucb --task cp --eval-timeout 9s")); !errors.As(err, &usage) {
		t.Errorf("another evaluation limit was taken for the same run: %v", err)
	}
}

func TestDeadEndpointSavesWhatThereIs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/v1"
	l.Close()
	dir := t.TempDir()
	err = run(t.Context(), strings.Fields("--model llama-8b --T 2 --N 4 --n-arms 2 --api-base "+url+" --output "+dir))
	var usage *cli.UsageError
	if err == nil || errors.As(err, &usage) || !strings.Contains(err.Error(), url) {
		t.Errorf("error %v, want one that names %s", err, url)
	}
	if r := report(t, dir, "*.partial.json"); r.Stop != evolve.StopError || r.FinalFitness < 0.364 {
		t.Errorf("stopped by %s at %v", r.Stop, r.FinalFitness)
	}
}
