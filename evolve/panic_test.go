package evolve_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// broken is a policy, a task and a model, and more, that panic when the countdown reaches 0.
type broken struct {
	bandit.Policy
	task.Task
	llm.LLM
	what string
	left atomic.Int64
	by   func() // how it breaks; nil means a panic that says boom
}

func (b *broken) at(what string) {
	if b.what != what {
		return
	}
	if b.left.Add(-1) == 0 {
		if b.by != nil {
			b.by()
		}
		panic("boom")
	}
}

func (b *broken) Probs(p []float64, r bandit.Round)     { b.at("Probs"); b.Policy.Probs(p, r) }
func (b *broken) Update(p bandit.Pull, r float64)       { b.at("Update"); b.Policy.Update(p, r) }
func (b *broken) Prompt(ask task.Request) []llm.Message { b.at("Prompt"); return b.Task.Prompt(ask) }
func (b *broken) Parse(s string) (string, error)        { b.at("Parse"); return b.Task.Parse(s) }
func (b *broken) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	b.at("Evaluate")
	return b.Task.Evaluate(ctx, program)
}
func (b *broken) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	b.at("Generate")
	return b.LLM.Generate(ctx, req)
}

// Whatever of a user's code panics, the run ends with an error that says what and with which value, and its
// result holds what was paid for.
func TestPanics(t *testing.T) {
	for _, tt := range []struct {
		what string
		left int64
		want string
		made int // calls that the result must hold
		by   func()
	}{
		{"Probs", 3, "Policy.Probs", 8, nil},
		{"Update", 2, "Policy.Update", 8, nil},
		{"Done", 5, "Done", 8, nil},
		{"Step", 3, "Step of arm", 8, nil},
		{"Step", 3, "ended its goroutine", 8, runtime.Goexit},
		{"Prompt", 11, "making child", 8, nil},
		{"Parse", 10, "making child", 10, nil},
		{"Evaluate", 11, "the evaluator's Evaluate", 10, nil}, // one is the initial program's
		{"Generate", 11, "the model's Generate", 10, nil},
		{"Credit", 9, "Credit", 9, nil},
		{"OnChild", 10, "OnChild", 10, nil},
		{"Reward", 2, "Config.Reward", 8, nil},
		{"Observer", 12, "Config.Observer", 8, nil}, // draw, 4 children, generation, and again
		{"the last event", 1, "Config.Observer", 40, nil},
	} {
		b := &broken{Policy: &bandit.UCB1{}, Task: newNumbers(t, "0"), LLM: climber, what: tt.what, by: tt.by}
		b.left.Store(tt.left)
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: taskOf{b}, N: 4, Seed: 40,
			LLM: llm.Limit(modelOf{b}, 1), Proposers: []evolve.Proposer{{Name: "plain"}, {Name: "other", Instruction: "Go on."}}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			g := a.(*evolve.Greedy)
			g.OnChild = func(evolve.Child) { b.at("OnChild") }
			g.Credit = func(evolve.Child) (float64, bool) { b.at("Credit"); return 0, true }
		}
		arms := make([]evolve.Arm, len(list))
		for i, a := range list {
			arms[i] = armOf{a.(evolve.Sizer), b}
		}
		ends := 0
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: policyOf{b}, Budget: evolve.Budget{Calls: 40},
			Reward: func(g evolve.Generation) float64 { b.at("Reward"); return g.Best.Result.Score },
			Observer: func(e evolve.Event) {
				b.at("Observer")
				if e.Kind == evolve.EventStop {
					ends++
					b.at("the last event")
				}
			}})
		wrong := func(format string, args ...any) { t.Helper(); t.Errorf(tt.what+": "+format, args...) }
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || res == nil {
			wrong("error %v, want one line that says %q", err, tt.want)
			continue
		}
		var p *evolve.PanicError
		if tt.by == nil && (!errors.As(err, &p) || p.Value != "boom" || !strings.Contains(string(p.Stack), "panic_test.go")) {
			wrong("%+v, want a PanicError of boom with its stack", err)
		}
		made := 0
		for range res.Attempts {
			made++
		}
		if made < tt.made || ends != 1 || res.Best.Program == "" {
			wrong("%d calls in the result, want %d; %d last events; best %+v", made, tt.made, ends, res.Best)
		}
		if want := tt.what == "the last event"; want != (res.Stop == evolve.StopBudget) {
			wrong("stopped by %s", res.Stop)
		}
		file := report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel}, ArmSeeds: []uint32{1, 2}})
		if len(asJSON(t, file)) == 0 {
			wrong("no report")
		}
	}
}

// The faces of a broken thing.
type (
	taskOf   struct{ *broken }
	modelOf  struct{ *broken }
	policyOf struct{ *broken }
	armOf    struct {
		evolve.Sizer
		b *broken
	}
)

func (a armOf) Done() bool { a.b.at("Done"); return a.Sizer.Done() }
func (a armOf) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	a.b.at("Step")
	return a.Sizer.Step(ctx, turn)
}

// A reward or a score that is not a number, or too large, never ends a run without an error, and loses nothing that
// was paid for.
func TestRewardsAndScoresThatAreNoUse(t *testing.T) {
	for _, reward := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms(t, 2, 4), Policy: &bandit.UCB1{},
			Budget: evolve.Budget{Rounds: 5},
			Reward: func(evolve.Generation) float64 { return reward }})
		if err == nil || !strings.Contains(err.Error(), "reward") || !strings.Contains(err.Error(), "not finite") ||
			res.Calls != 4 {
			t.Errorf("reward %v: %v, with %d calls in the result, want 4", reward, err, res.Calls)
		}
		if r := res.Rounds[0].Reward; r != 0 {
			t.Errorf("reward %v: the result says %v, which JSON cannot hold", reward, r)
		}
	}
	for _, score := range []string{"1.7e308", "-1.7e308", "NaN", "Inf", "-Inf"} {
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 3,
			LLM: llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) { return ok(score, req.Seed), nil })})
		other := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 3, LLM: climber})
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g, other}, Policy: &bandit.UCB1{},
			Budget: evolve.Budget{Rounds: 20}})
		if len(res.Rounds) != 20 || res.Best.Result.Valid && math.IsInf(res.Best.Result.Score, 0) {
			t.Errorf("score %s: %d rounds, best %v", score, len(res.Rounds), res.Best.Result.Score)
		}
		asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
			ArmSeeds: []uint32{1, 2}}))
	}
}

// closedArm is a policy that draws an arm that is closed once one is.
type closedArm struct{}

func (closedArm) Probs(p []float64, r bandit.Round) {
	at := 0
	for i, open := range r.Open {
		if !open {
			at = i
		}
	}
	p[at] = 1
}
func (closedArm) Update(bandit.Pull, float64) {}
func (closedArm) String() string              { return "closedArm()" }

func TestPolicyThatDrawsAClosedArm(t *testing.T) {
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms(t, 2, 4), Policy: closedArm{},
		Budget: evolve.Budget{RoundsPerArm: 2}})
	if err == nil || !strings.Contains(err.Error(), "probability 1 of arm 0, which is closed") || res.Calls != 8 ||
		res.Stop != evolve.StopError {
		t.Errorf("%v, stopped by %s with %d calls in the result, want 8", err, res.Stop, res.Calls)
	}
}

// Sizes that are a slip of the keyboard are errors at once, or cost nothing.
func TestAbsurdSizes(t *testing.T) {
	for _, n := range []int{-1, evolve.MaxN + 1, 1e9, math.MaxInt} {
		cfg := evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: n}
		if _, err := evolve.NewGreedy(cfg); err == nil || !strings.Contains(err.Error(), "GreedyConfig.N is ") {
			t.Errorf("N = %d: %v", n, err)
		}
		cfg.N = 1
		if _, err := evolve.GreedyArms(cfg, n); err == nil ||
			!strings.Contains(err.Error(), "arms: need at least 1, and at most ") {
			t.Errorf("%d arms: %v", n, err)
		}
	}
	for _, inFlight := range []int{1e9, math.MaxInt} {
		res := mustRun(t, evolve.Config{Arms: arms(t, 3, 4), Policy: noisy{}, InFlight: inFlight,
			Budget: evolve.Budget{Calls: 30}})
		if res.Calls != 30 {
			t.Errorf("%d in flight: %d calls", inFlight, res.Calls)
		}
	}
}

// lastWord panics when its context ends.
type lastWord struct{ evolve.Arm }

func (lastWord) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	<-ctx.Done()
	panic("too late")
}

// A panic is told also where the run comes to an end for another reason.
func TestPanicOfARunThatEnds(t *testing.T) {
	for _, tt := range []struct {
		reason string
		budget evolve.Budget
		stop   evolve.Stop
	}{
		{"canceled", evolve.Budget{Rounds: 5}, evolve.StopError},
		{"out of time", evolve.Budget{WallTime: time.Second}, evolve.StopBudget},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			res, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{lastWord{arms(t, 1, 2)[0]}}, Budget: tt.budget})
			if err == nil || !strings.Contains(err.Error(), "too late") || res.Stop != tt.stop {
				t.Errorf("%s: stopped by %s with %v", tt.reason, res.Stop, err)
			}
		})
	}
}
