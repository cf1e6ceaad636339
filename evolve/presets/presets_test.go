package presets_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/presets"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// packing returns circle packing, with programs in JavaScript.
func packing(t *testing.T) task.Task {
	t.Helper()
	runner, err := js.New(js.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cp, err := geometry.CirclePacking().Task(runner, "javascript")
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

// standIn is the offline model, and counts the calls that it answers.
func standIn(t *testing.T, calls *atomic.Int64) llm.LLM {
	t.Helper()
	m, err := offline.New(offline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		reply, err := m.Generate(ctx, req)
		if err == nil {
			calls.Add(1)
		}
		return reply, err
	}), 4)
}

// search runs one preset for so many steps, with a journal at path. A budget of calls would let time decide what of the last
// children and notes still finds room.
func search(t *testing.T, ctx context.Context, p presets.Preset, s population.Config, path string, steps int) *evolve.Result {
	t.Helper()
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	arm, err := p.New(s)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	res, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: steps}, Journal: j})
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return res
}

// Every preset runs on circle packing with the offline model.
func TestPresetsOnCirclePacking(t *testing.T) {
	cp := packing(t)
	for _, p := range presets.Presets {
		var calls atomic.Int64
		s := population.Config{Task: cp, LLM: standIn(t, &calls), N: 4, Seed: 40}
		res := search(t, t.Context(), p, s, filepath.Join(t.TempDir(), "run.journal"), 3)
		valid := 0
		for _, g := range res.Arms[0].Generations {
			for _, c := range g.Children {
				if c.Result.Valid {
					valid++
				}
			}
		}
		if res.Stop != evolve.StopBudget || res.Calls < 12 || valid < 2 {
			t.Errorf("%s stops by %s after %d calls with %d valid children", p.Name, res.Stop, res.Calls, valid)
		}
	}
}

// Canceled half-way and resumed, every preset makes the same children, and pays for no call twice. With a window too.
func TestPresetsResume(t *testing.T) {
	for i, p := range presets.Presets {
		if !notrun.Soak && i%3 > 0 {
			continue
		}
		var needed, paid atomic.Int64
		s := population.Config{Task: eight(t), N: 8, Seed: 40, Window: i % 2 * 5}
		s.LLM = standIn(t, &needed)
		want := search(t, t.Context(), p, s, filepath.Join(t.TempDir(), "run.journal"), 9)
		if want.Stop != evolve.StopBudget || want.Calls < 60 || !want.Best.Better(want.Arms[0].Start) {
			t.Errorf("%s: it stops by %s after %d calls at %v", p.Name, want.Stop, want.Calls, want.Best.Result.Score)
		}

		path := filepath.Join(t.TempDir(), "run.journal")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stopped := s
		stopped.LLM = standIn(t, &paid)
		ended := 0
		stopped.OnChild = func(evolve.Child) {
			if ended++; ended == 36 {
				cancel()
			}
		}
		if half := search(t, ctx, p, stopped, path, 9); half.Stop != evolve.StopCanceled {
			t.Fatalf("%s: canceled, it stops by %s after %d calls", p.Name, half.Stop, half.Calls)
		}
		s.LLM = standIn(t, &paid)
		got := search(t, t.Context(), p, s, path, 9)
		if diff := cmp.Diff(children(want), children(got)); diff != "" {
			t.Errorf("%s: resumed it makes other children (-undisturbed +resumed):\n%.2000s", p.Name, diff)
		}
		if lost := int64(len(got.Earlier.Lost) + len(got.Earlier.Abandoned)); paid.Load() > needed.Load()+lost {
			t.Errorf("%s: %d calls are paid for, %d are needed and %d were lost", p.Name, paid.Load(), needed.Load(), lost)
		}
	}
}

// children returns what tells the children of a run apart, in order.
func children(r *evolve.Result) (list []string) {
	for _, g := range r.Arms[0].Generations {
		for _, c := range g.Children {
			list = append(list, fmt.Sprint(c.ID, c.Parents, c.Operator, c.Seed, c.Result.Score, c.Err))
		}
	}
	return list
}

// Greedy is evolve.Greedy, child for child.
func TestGreedyIsGreedy(t *testing.T) {
	numbers := eight(t)
	var calls atomic.Int64
	model := standIn(t, &calls)
	got := search(t, t.Context(), presets.Presets[0], population.Config{Task: numbers, LLM: model, N: 8, Seed: 40},
		filepath.Join(t.TempDir(), "j"), 8)
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: numbers, LLM: model, N: 8, Seed: 40})
	if err != nil {
		t.Fatal(err)
	}
	want, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: 64}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(children(got), children(want)) {
		t.Errorf("children\n%q\nwant\n%q", children(got), children(want))
	}
}

// A noisy search scores its best members again, and adds them with their means: in no part of an archive does one stand
// twice, and the best that is claimed is that of the archive.
func TestPresetsOfNoisyTasks(t *testing.T) {
	plain := eight(t)
	for _, p := range presets.Presets {
		var calls, scored atomic.Int64
		noisy := task.WithEvaluator(plain, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			r, err := plain.Evaluate(ctx, program)
			r.Score += 9 * float64(scored.Add(1)%7)
			return r, err
		}))
		cfg := p.Config(population.Config{Task: noisy, LLM: standIn(t, &calls), N: 8, Seed: 3, Window: 1,
			Archive: population.Top(4), Noise: &evolve.Noise{Rescore: 1, Fresh: -1}})
		arm, err := population.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 10}})
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		parts, again, best := []population.Archive{cfg.Archive}, 0, res.Arms[0].Start
		if islands, ok := cfg.Archive.(*population.Islands); ok {
			parts = islands.Of
		}
		for _, a := range parts {
			seen := map[int]bool{}
			for _, m := range a.Members() {
				if seen[m.ID] {
					t.Errorf("%s: member %d stands twice in %v", p.Name, m.ID, a)
				}
				if seen[m.ID] = true; m.Better(best) {
					best = m.Candidate
				}
				if m.Result.N() > 1 {
					again++
				}
			}
		}
		if again == 0 || res.Best.Result.Score != best.Result.Score {
			t.Errorf("%s: %d members were scored again; the best of %v is claimed, and the archive's has %v", p.Name, again,
				res.Best.Result.Score, best.Result.Score)
		}
	}
}
