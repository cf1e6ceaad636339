package peers_test

import (
	"fmt"
	"path/filepath"
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
