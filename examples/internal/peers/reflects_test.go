package peers_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/dues"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/text"
)

// duesTask returns the task of dues, whose prompts answer no cases for feedback when they are scored.
func duesTask(t *testing.T) *text.Task {
	t.Helper()
	c := dues.Config(dues.Target{})
	c.Reflect = -1
	of, err := text.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// GEPA shows the model what the parent answers on the three train cases of the child's minibatch, and no others.
func TestGEPAReflectsOnAFreshMinibatch(t *testing.T) {
	inputs := map[string]bool{}
	_, prompts := steps(t, peers.GEPA(peers.Setting{Task: duesTask(t)}), func(req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: task.Fence(fmt.Sprint("Think of ", req.Seed), ""), Attempts: []llm.Attempt{{Status: llm.OK}}},
			nil
	}, 200)
	n := 0
	for _, p := range prompts {
		if !strings.Contains(p, "Reply with") {
			continue // of the target
		}
		n++
		if strings.Count(p, "> input: ") != 3 || strings.Count(p, "> reply: ") != 3 || strings.Count(p, "> feedback: ") == 0 {
			t.Fatalf("a prompt shows other than a minibatch:\n%s", p)
		}
		for line := range strings.Lines(p) {
			if input, ok := strings.CutPrefix(line, "> input: "); ok {
				inputs[strings.TrimSpace(input)] = true
			}
		}
	}
	train := map[string]bool{}
	for _, c := range dues.Cases().Train {
		train[c.Input] = true
	}
	for input := range inputs {
		if !train[input] {
			t.Errorf("a prompt shows %q, which is not to train on", input)
		}
	}
	if n < 5 || len(inputs) < 12 {
		t.Errorf("%d prompts show %d cases: want more to judge by", n, len(inputs))
	}
}

// A parent that is perfect on the minibatch is not rewritten, and a search that finds no other is done.
func TestGEPASkipsPerfectMinibatches(t *testing.T) {
	c := dues.Config(dues.Target{})
	c.Score = func(text.Case, string) (float64, string) { return 1, "" }
	of, err := text.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	s, err := population.New(peers.GEPA(peers.Setting{Task: of, LLM: standIn(t, &calls), N: 4, Seed: 40}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Calls: 10_000}})
	if err != nil || res.Stop != evolve.StopExhausted || calls.Load() != 0 {
		t.Errorf("stopped by %s after %d calls: %v", res.Stop, calls.Load(), err)
	}
}

// Where the score of a child asks a model, Omni's slices are of these calls too: each search is stepped, none takes another's
// slice, and the best is handed on.
func TestOmniHandsOnWhatAModelScores(t *testing.T) {
	omni, err := peers.Named("omni")
	if err != nil {
		t.Fatal(err)
	}
	of, err := text.New(dues.Config(dues.Target{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ n, calls int }{{1, 800}, {8, 800}, {40, 800}, {8, 400}} {
		n, slice := tt.n, tt.calls/4
		var calls atomic.Int64
		arm, err := omni.Arm(peers.Setting{Task: of, LLM: standIn(t, &calls), N: n, Seed: 40, Calls: tt.calls}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm},
			Budget: evolve.Budget{Calls: tt.calls}}); err != nil {
			t.Fatal(err)
		}
		for i, a := range arm.(peers.Omni).Result().Arms {
			children, spent := 0, 0
			for _, g := range a.Generations {
				children += len(g.Children)
				for attempts := range g.EachCall {
					if (evolve.Child{Attempts: attempts}).Answered() {
						spent++
					}
				}
			}
			t.Logf("N = %d: search %d: %d children, %d calls", n, i, children, spent)
			if children < 3 || spent < slice/3 || spent > slice*3/2 {
				t.Errorf("N = %d: search %d has %d children for %d calls, want a slice of about %d", n, i, children, spent, slice)
			}
		}
	}
}

// What decides the searches of a race is in its name, so that a journal is not resumed with other flags.
func TestOmniPrintsWhatDecidesIt(t *testing.T) {
	omni, err := peers.Named("omni")
	if err != nil {
		t.Fatal(err)
	}
	plain := peers.Setting{Task: duesTask(t), LLM: standIn(t, new(atomic.Int64)), N: 4, Seed: 40, Calls: 80}
	names := map[string]string{}
	for what, change := range map[string]func(*peers.Setting){
		"nothing":      func(*peers.Setting) {},
		"seed":         func(s *peers.Setting) { s.Seed++ },
		"window":       func(s *peers.Setting) { s.Window = 3 },
		"N":            func(s *peers.Setting) { s.N = 5 },
		"noise":        func(s *peers.Setting) { s.Noise = &evolve.Noise{} },
		"temperatures": func(s *peers.Setting) { s.Temperatures = []float64{0, 1} },
		"calls":        func(s *peers.Setting) { s.Calls++ },
	} {
		s := plain
		change(&s)
		arm, err := omni.Arm(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint(arm)
		if other, seen := names[name]; seen {
			t.Errorf("another %s and another %s have one name: %s", what, other, name)
		}
		names[name] = what
	}
}

// With scores of another scale than 0 to 1 a parent may have more than 1 in each case, or just 1, and is rewritten.
func TestGEPARewritesOnOtherScales(t *testing.T) {
	for _, tt := range []struct {
		reason string
		score  func(c text.Case) float64
	}{
		{"percents", func(text.Case) float64 { return 40 }},
		{"1 at the cases of minibatches, and more at others", func(c text.Case) float64 {
			for _, train := range dues.Cases().Train {
				if train.Input == c.Input {
					return 1
				}
			}
			return 1.5
		}},
		{"less than 1", func(text.Case) float64 { return 0.999 }},
	} {
		c := dues.Config(dues.Target{})
		c.Score = func(c text.Case, _ string) (float64, string) { return tt.score(c), "" }
		of, err := text.New(c)
		if err != nil {
			t.Fatal(err)
		}
		var calls atomic.Int64
		s, err := population.New(peers.GEPA(peers.Setting{Task: of, LLM: standIn(t, &calls), N: 4, Seed: 40}))
		if err != nil {
			t.Fatal(err)
		}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Calls: 400}})
		if err != nil || res.Stop != evolve.StopBudget || calls.Load() < 10 {
			t.Errorf("%s: stopped by %s after %d children were asked for: %v", tt.reason, res.Stop, calls.Load(), err)
		}
	}
}

// A race whose children are scored by a model is made again from its journal without a call, with the same draws, grants
// and ends of slices.
func TestOmniIsRecalled(t *testing.T) {
	omni, err := peers.Named("omni")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.journal")
	var lives [2]int64
	var made [2][]string
	for i := range lives {
		var calls atomic.Int64
		c := dues.Config(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			calls.Add(1)
			return dues.Target{}.Generate(ctx, req)
		}))
		of, err := text.New(c)
		if err != nil {
			t.Fatal(err)
		}
		_, res := search(t, t.Context(), omni, peers.Setting{Task: of, LLM: standIn(t, &calls), N: 8, Seed: 40, Calls: 400},
			path, 12)
		lives[i], made[i] = calls.Load(), children(res)
	}
	if lives[0] < 300 || lives[1] != 0 || !slices.Equal(made[0], made[1]) || len(made[0]) < 12 {
		t.Errorf("calls of the two lives: %v; their children\n%q\nand\n%q", lives, made[0], made[1])
	}
}

// A run of GEPA that ended is made again from its journal without a call.
func TestGEPAIsRecalled(t *testing.T) {
	path, lives := filepath.Join(t.TempDir(), "run.journal"), []int64{}
	for range 2 {
		var calls atomic.Int64
		_, res := search(t, t.Context(), peers.Peer{Name: "gepa", Config: peers.GEPA},
			peers.Setting{Task: duesTask(t), LLM: standIn(t, &calls), N: 20, Seed: 40}, path, 2)
		if lives = append(lives, calls.Load()); res.Best.Result.Score <= res.Arms[0].Start.Result.Score {
			t.Errorf("the best scores %v, as the first", res.Best.Result.Score)
		}
	}
	if lives[0] < 20 || lives[1] != 0 {
		t.Errorf("calls of the two lives: %v", lives)
	}
}
