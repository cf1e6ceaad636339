package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

func TestGreedySavesItsResult(t *testing.T) {
	for task, start := range map[string]float64{"cp": 0.364101, "mmd": 0.007841, "ht": 0} {
		dir := t.TempDir()
		if err := runGreedy(t.Context(), strings.Fields("--T 4 --N 16 --breadth fixed --offline-latency 0 --seed 41 --task "+
			task+" --output "+dir)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, task, "offline", "greedy_C64_T4_N16_seed41.json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r report.Greedy
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Trajectory) != 5 || *r.Trajectory[0].BestFitness < start-1e-6 || *r.Trajectory[0].BestFitness > start+1e-6 ||
			r.FinalFitness <= start {
			t.Errorf("%s: %d rows from %v to %v", task, len(r.Trajectory), *r.Trajectory[0].BestFitness, r.FinalFitness)
		}
	}
}

func TestBadGreedyFlags(t *testing.T) {
	for _, tt := range []struct{ args, says, reason string }{
		{"--seed 4294967296", "--seed is 4294967296", "a seed has 32 bits"},
		{"--window -1", "--window is -1", "none is 0"},
		{"--window 8 --second 1", "--second has no effect with --breadth fixed", "a window is for wide generations"},
		{"--breadth wide", `"wide": it is fixed, adaptive`, "the values are named"},
		{"--window 8 --order sorted", `"sorted": it is by-index or as-they-end`, "the values are named"},
		{"--task tsp", "it is one of cp, mmd, ht, packing, text, or a folder", "the built-in tasks are listed"},
		{"--order as-they-end", "--order has no effect without --window", "all children begin before one is taken in"},
	} {
		var usage *cli.UsageError
		err := runGreedy(t.Context(), append(strings.Fields(tt.args), "--output", t.TempDir()))
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want a usage error that says %q: %s", tt.args, err, tt.says, tt.reason)
		}
	}
}

// With a breadth that follows the search, T·N calls make more and narrower generations.
func TestBreadthsOfGreedy(t *testing.T) {
	for _, breadth := range []string{"adaptive"} {
		dir := t.TempDir()
		args := "--T 4 --N 16 --offline-latency 0 --output " + dir
		if err := runGreedy(t.Context(), strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "cp", "offline", "greedy_C64_T4_N16_"+breadth+"_seed40.json"))
		if err != nil {
			t.Fatal(err)
		}
		var r report.Greedy
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		calls := 0
		for _, row := range r.Trajectory[1:] {
			calls += row.Width
			if row.Width < 1 || row.Width > 16 || *row.Count != row.Width {
				t.Errorf("%s: a generation of %d children of %d", breadth, *row.Count, row.Width)
			}
		}
		if calls != 64 || len(r.Trajectory) < 6 || !strings.HasPrefix(strings.ToLower(r.Breadth), breadth) {
			t.Errorf("%s: %d calls in %d rows by %s", breadth, calls, len(r.Trajectory), r.Breadth)
		}
	}
}

// With a window below N children are made from children of the same generation. Taken by index, they are the same
// in every run; taken as they end, they are the same when the run is resumed.
func TestSteadyState(t *testing.T) {
	steady := func(dir, more string) (r report.Greedy, parents []int) {
		t.Helper()
		if err := runGreedy(t.Context(), strings.Fields("--T 1 --N 48 --window 8 --offline-latency 2ms --output "+dir+" "+
			more)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "cp", "offline", "greedy_C48_T1_N48_seed40.json"))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			report.Greedy
			Trajectory []struct {
				Children []struct{ Parents []int }
			} `json:"trajectory"`
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Trajectory[1].Children {
			parents = append(parents, c.Parents...)
		}
		if len(parents) != 48 || slices.Max(parents) < 8 {
			t.Errorf("%s: parents %v, want one for each of 48 children, and later ones than the first 8", more, parents)
		}
		return file.Greedy, parents
	}
	dir := t.TempDir()
	first, was := steady(dir, "--order by-index")
	second, is := steady(t.TempDir(), "")
	if !slices.Equal(was, is) || first.FinalFitness != second.FinalFitness {
		t.Errorf("by index: parents %v and %v, best %v and %v", was, is, first.FinalFitness, second.FinalFitness)
	}
	dir = t.TempDir()
	first, was = steady(dir, "--order as-they-end")
	second, is = steady(dir, "--order as-they-end --resume")
	if !slices.Equal(was, is) || first.FinalFitness != second.FinalFitness {
		t.Errorf("as they end, and resumed: parents %v and %v, best %v and %v", was, is, first.FinalFitness,
			second.FinalFitness)
	}
}

// A plain mistake in what names the model is refused before anything is started, here an evaluator that cannot be.
func TestPlainMistakesComeFirst(t *testing.T) {
	t.Setenv("LLM_API_BASE", "")
	broken := t.TempDir()
	for name, text := range map[string]string{"initial_program.py": "x = 1\n",
		"evaluator.py": "raise SystemExit('it was started')\n"} {
		if err := os.WriteFile(filepath.Join(broken, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ args, says string }{
		{"--model qwen3-8b", "here or in LLM_API_BASE"},
		{"--model qwen3-8b --api-base localhost:8000/v1", `"localhost:8000/v1": need a URL`},
		{"--model qwen3 --api-base http://localhost:8000/v1", "unknown model"},
	} {
		var usage *cli.UsageError
		err := runGreedy(t.Context(), append(strings.Fields(tt.args), "--task", broken, "--output", t.TempDir()))
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.says)
		}
	}
}

// A run with --journal "" keeps no journal and refuses --resume and --watch. It leaves an unfinished run's journal
// alone.
func TestNoJournal(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--T", "1", "--N", "4", "--offline-latency", "0", "--output", dir}
	none := append(slices.Clip(args), "--journal", "")
	journals := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.journal"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if err := runGreedy(t.Context(), none); err != nil || len(journals()) > 0 {
		t.Errorf("journals %v, error %v", journals(), err)
	}
	if results, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*.json")); len(results) != 1 {
		t.Errorf("results %v", results)
	}
	var usage *cli.UsageError
	for _, more := range []string{"--resume", "--watch"} {
		if err := runGreedy(t.Context(), append(slices.Clip(none), more)); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), "says that there is none") {
			t.Errorf("%s: %v", more, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := runGreedy(stopped, none); !errors.Is(err, cli.ErrCanceled) || len(journals()) > 0 {
		t.Errorf("stopped: journals %v, error %v", journals(), err)
	}
	if err := runGreedy(t.Context(), args); err != nil || len(journals()) != 1 {
		t.Errorf("journals %v, error %v", journals(), err)
	}
}
