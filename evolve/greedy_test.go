package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func newGreedy(t testing.TB, cfg evolve.GreedyConfig) *evolve.Greedy {
	t.Helper()
	g, err := evolve.NewGreedy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGreedySelection(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		programs []string // of the children, by index
		best     string
	}{
		{"a better child replaces the parent", []string{"1", "3", "2"}, "3"},
		{"a tie keeps the parent", []string{"0", "0.0", "-1"}, "0"},
		{"among equal children the lowest index wins", []string{"1", "2.0", "2"}, "2.0"},
		{"invalid children never win", []string{"x", "-5", ""}, "0"},
	} {
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 3, Seed: 7,
			LLM: answers(7, 3, func(i int) (llm.Reply, error) { return ok(tt.programs[i], 1), nil })})
		gen, err := g.Step(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if gen.Best.Program != tt.best || g.Best().Program != tt.best {
			t.Errorf("%s: best is %q, want %q", tt.reason, gen.Best.Program, tt.best)
		}
		if gen.Index != 1 || gen.Before.Program != "0" || !gen.Before.Result.Valid || len(gen.Children) != 3 {
			t.Errorf("%s: generation %d of %d children from %+v", tt.reason, gen.Index, len(gen.Children), gen.Before)
		}
	}
}

func TestGreedyRecordsEveryChild(t *testing.T) {
	timeout := llm.Reply{Attempts: []llm.Attempt{{Status: llm.Timeout, MaxTokens: 100, Err: "too late"},
		{Status: llm.Timeout, MaxTokens: 100, Err: "too late"}}}
	replies := []struct {
		reply llm.Reply
		err   error
		want  string // what Err and Reason say
		prog  bool
		valid bool
	}{
		{ok("```text\n4\n```", 1), nil, "", true, true},
		{ok("```text\nfour\n```", 2), nil, "not a number", true, false},
		{ok("<think>hm</think>", 3), nil, "program", false, false},
		{llm.Reply{Reasoning: "4, or 5", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil, "stands in its reasoning", false, false},
		{timeout, &llm.Error{Status: llm.Timeout, Err: errors.New("no answer in 900 s")}, "no answer in 900 s", false, false},
		{llm.Reply{}, errors.New("boom"), "boom", false, false},
	}
	n := newNumbers(t, "0")
	g := newGreedy(t, evolve.GreedyConfig{Task: n, N: len(replies), Seed: 1,
		LLM: answers(1, len(replies), func(i int) (llm.Reply, error) { return replies[i].reply, replies[i].err })})
	gen, err := g.Step(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(gen.Children) != len(replies) {
		t.Fatalf("%d children, want %d", len(gen.Children), len(replies))
	}
	for i, c := range gen.Children {
		want := replies[i]
		if c.Index != i || c.Seed != evolve.ChildSeed(1, len(replies), 0, i) {
			t.Errorf("child %d has index %d and seed %d", i, c.Index, c.Seed)
		}
		if c.HasProgram() != want.prog || c.Result.Valid != want.valid ||
			!strings.Contains(c.Err+c.Result.Reason, want.want) {
			t.Errorf("child %d: %+v, want %+v", i, c, want)
		}
		if want.prog && want.want == "" && (c.Err != "" || c.Result.Reason != "") {
			t.Errorf("child %d has a reason although it is well: %+v", i, c)
		}
		if len(c.Attempts) != len(want.reply.Attempts) {
			t.Errorf("child %d has %d attempts, want %d", i, len(c.Attempts), len(want.reply.Attempts))
		}
	}
	if got := n.evaluations.Load(); got != 3 {
		t.Errorf("%d evaluations, want the initial program's and two children's", got)
	}
}

// A child is scored while its siblings are still being written.
func TestGreedyHasNoBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var scored atomic.Int64
		n := newNumbers(t, "0")
		counted := task.WithEvaluator(n, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			if program != "0" {
				scored.Add(1)
			}
			return n.Evaluate(ctx, program)
		}))
		g := newGreedy(t, evolve.GreedyConfig{Task: counted, N: 8, Seed: 3,
			LLM: answers(3, 8, func(i int) (llm.Reply, error) {
				time.Sleep(time.Duration(i) * time.Second)
				synctest.Wait()
				if got := scored.Load(); got != int64(i) {
					t.Errorf("when child %d was written, %d were scored, want all %d before it", i, got, i)
				}
				return ok(fmt.Sprint(i+1), 1), nil
			})})
		if _, err := g.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestGreedyStopsOnUnavailableModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Endpoint: "http://localhost:1/v1",
			Err: errors.New("connection refused")}
		model := answers(5, 4, func(i int) (llm.Reply, error) {
			switch i {
			case 0:
				return ok("9", 1), nil
			case 2:
				time.Sleep(time.Second) // child 0 is scored by then
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindRefused}}}, refused
			}
			time.Sleep(time.Second)
			return ok("1", 1), nil
		})
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 4, Seed: 5, LLM: model})
		gen, err := g.Step(t.Context(), nil)
		if !errors.Is(err, refused) {
			t.Fatalf("error %v, want %v", err, refused)
		}
		if !gen.Partial || gen.Best.Program != "9" || len(gen.Children) != 4 {
			t.Errorf("partial %v, best %q, %d children; want what was paid for", gen.Partial, gen.Best.Program,
				len(gen.Children))
		}
		if !g.Done() {
			t.Error("not done after an error")
		}
		if _, again := g.Step(t.Context(), nil); !errors.Is(again, refused) {
			t.Errorf("the next Step returns %v", again)
		}
	})
}

func TestGreedyStopsWhenEveryCallFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := atomic.Int64{}
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			time.Sleep(time.Second) // let the call before be counted
			calls.Add(1)
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindServer}}}, errors.New("500")
		})
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 10, LLM: llm.Limit(model, 1)})
		g.MaxFailures = 25
		var err error
		for err == nil {
			_, err = g.Step(t.Context(), nil)
		}
		// The place of the last call may go to one more before the search hears of its end: what was sent is awaited.
		if got := calls.Load(); got < 25 || got > 26 || !strings.Contains(err.Error(), "25 model calls in a row failed") {
			t.Errorf("%d calls, then %v; want 25, or one more", got, err)
		}
	})
}

func TestGreedyFailuresInARowAreResetByASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := atomic.Int64{}
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			time.Sleep(time.Second) // let the call before be counted
			if calls.Add(1)%3 == 0 {
				return ok("0", 1), nil
			}
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindServer}}}, errors.New("500")
		})
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 30, LLM: llm.Limit(model, 1)})
		g.MaxFailures = 3
		if _, err := g.Step(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestGreedyStopsOnBrokenEvaluator(t *testing.T) {
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 2, Seed: 1,
		LLM: answers(1, 2, func(i int) (llm.Reply, error) { return ok("broken evaluator", 1), nil })})
	gen, err := g.Step(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "the evaluator is broken") {
		t.Fatalf("error %v", err)
	}
	if len(gen.Children) == 0 || gen.Children[0].Program != "broken evaluator" || len(gen.Children[0].Attempts) != 1 {
		t.Errorf("children %+v: the program that was paid for is lost", gen.Children)
	}
}

func TestGreedyCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			wait := time.Second
			if req.Seed == evolve.ChildSeed(1, 4, 0, 2) {
				wait = time.Millisecond
			}
			select {
			case <-time.After(wait):
				return ok("5", 1), nil
			case <-ctx.Done():
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, Err: "canceled"}}}, ctx.Err()
			}
		})
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 4, Seed: 1, LLM: model})
		time.AfterFunc(100*time.Millisecond, cancel)
		gen, err := g.Step(ctx, nil)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
		if gen.Best.Program != "5" || g.Best().Program != "5" {
			t.Errorf("best %q: the child that was paid for and scored is lost", gen.Best.Program)
		}
		canceled := 0
		for _, c := range gen.Children {
			for _, a := range c.Attempts {
				if a.Status == llm.Canceled {
					canceled++
				}
			}
		}
		if canceled != len(gen.Children)-1 || canceled == 0 {
			t.Errorf("%d of %d children canceled: want all but the one that was answered", canceled, len(gen.Children))
		}
	})
}

func TestGreedyTakesAsManyCallsAsItIsGranted(t *testing.T) {
	whole := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 16, Seed: 9, LLM: climber})
	part := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 16, Seed: 9, LLM: climber})
	all, err := whole.Step(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := part.Step(t.Context(), evolve.TurnOf(5))
	if err != nil {
		t.Fatal(err)
	}
	if len(some.Children) != 5 {
		t.Fatalf("%d children, want 5", len(some.Children))
	}
	for i, c := range some.Children {
		if c.Seed != all.Children[i].Seed || c.Program != all.Children[i].Program {
			t.Errorf("child %d of 5 differs from child %d of 16", i, i)
		}
	}
}

func TestGreedyMaxGenerations(t *testing.T) {
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 1, LLM: climber, MaxGenerations: 3})
	steps := 0
	for !g.Done() {
		if _, err := g.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		steps++
	}
	if steps != 3 {
		t.Errorf("%d generations, want 3", steps)
	}
}

func TestArmsShareTheStart(t *testing.T) {
	n := newNumbers(t, "1.5")
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: n, LLM: climber, N: 2, Seed: 40}, 10)
	if err != nil {
		t.Fatal(err)
	}
	target := 1.0
	res := mustRun(t, evolve.Config{Arms: arms, Policy: noisy{}, Budget: evolve.Budget{Target: &target}})
	if got := n.evaluations.Load(); got != 1 || res.Evaluations != 1 || res.Stop != evolve.StopTarget {
		t.Errorf("the initial program was evaluated %d times (%d in the result), stop %s, want once and at the target", got,
			res.Evaluations, res.Stop)
	}
	for i, a := range arms {
		if g := a.(*evolve.Greedy); g.Best().Result.Score != 1.5 || res.Arms[i].Start.Result.Score != 1.5 {
			t.Errorf("arm %d has best %v", i, g.Best())
		}
	}
}

// The searches of runs with neighboring seeds share no seed but in the paper's protocol, where the i-th has base + i.
func TestArmSeeds(t *testing.T) {
	seen := map[uint32]string{}
	for base := range uint32(3) {
		for _, strict := range []bool{true, false} {
			arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Seed: 40 + base,
				Strict: strict}, 10)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range arms {
				seed, who := a.(*evolve.Greedy).Seed(), fmt.Sprintf("search %d from %d", i, 40+base)
				if strict && seed != 40+base+uint32(i) {
					t.Errorf("strict %s has seed %d", who, seed)
				}
				if !strict && seen[seed] != "" {
					t.Errorf("%s has the seed of %s", who, seen[seed])
				}
				if !strict {
					seen[seed] = who
				}
			}
		}
	}
}

func TestGreedyConfigErrors(t *testing.T) {
	n := newNumbers(t, "0")
	for _, tt := range []struct {
		want string
		cfg  evolve.GreedyConfig
	}{
		{"Task is nil", evolve.GreedyConfig{LLM: climber}},
		{"LLM is nil", evolve.GreedyConfig{Task: n}},
		{"N is -1", evolve.GreedyConfig{Task: n, LLM: climber, N: -1}},
		{"MaxGenerations is -2", evolve.GreedyConfig{Task: n, LLM: climber, MaxGenerations: -2}},
	} {
		if _, err := evolve.NewGreedy(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one that says %q", err, tt.want)
		}
	}
}
