package evolve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

var priced = llm.Model{Key: "m", ActiveParams: 1000, MaxTokens: 400,
	Price: &llm.Price{Prompt: 2, Cached: 0.5, Completion: 8}}

// wild is a model with luck of every kind, and usage within what a call may cost.
func wild(seed uint64) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		rng := rand.New(rand.NewPCG(seed, uint64(req.Seed)))
		a := llm.Attempt{MaxTokens: 400, Model: "m"}
		prompt := len(req.Messages[0].Content) + rng.IntN(20)
		usage := &llm.Usage{PromptTokens: prompt, CachedTokens: rng.IntN(prompt), CompletionTokens: rng.IntN(401)}
		select {
		case <-time.After(time.Duration(rng.ExpFloat64() * float64(time.Second))):
		case <-ctx.Done():
			a.Status = llm.Canceled
			return llm.Reply{Attempts: []llm.Attempt{a}}, ctx.Err()
		}
		switch u := rng.Float64(); {
		case u < 0.1:
			a.Status = llm.Timeout
		case u < 0.15:
			a.Status, a.Usage = llm.Stalled, usage
		case u < 0.3:
			a.Status, a.Kind = llm.Failed, llm.KindServer
		default:
			a.Status, a.Usage = llm.OK, usage
			if u > 0.95 {
				a.Usage = nil
			}
			return llm.Reply{Text: fmt.Sprint(rng.Float64()), Attempts: []llm.Attempt{a}}, nil
		}
		return llm.Reply{Attempts: []llm.Attempt{a}}, &llm.Error{Status: a.Status, Kind: a.Kind, Err: errors.New("bad luck")}
	})
}

// sleepy is a task whose evaluations take their time.
func sleepy(t *testing.T, worst time.Duration) task.Task {
	tk, err := task.New(task.Spec{Name: "sleepy", System: strings.Repeat("x", 100), Initial: "0",
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			rng := rand.New(rand.NewPCG(uint64(len(program)), 3))
			select {
			case <-time.After(time.Duration(rng.Int64N(int64(worst) * 3 / 2))):
			case <-ctx.Done():
				return eval.Result{}, ctx.Err()
			}
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// Whatever the budget, the latencies and the luck, with up to 256 calls in flight: no limit is ever
// passed, what is set aside returns to zero, and the classes sum to the total.
func TestBudgetProperty(t *testing.T) {
	bound := map[string]int{}
	limits := []string{"Calls", "Tokens", "FLOPs", "Money", "EvalTime", "WallTime", "Stalls"}
	unseen := func(limit string) bool { return bound[limit] == 0 }
	for seed := range uint64(150) {
		if !notrun.Soak && seed >= 40 && !slices.ContainsFunc(limits, unseen) {
			break // the normal run goes on until each limit has ended a run
		}
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 77))
			b := Budget{Models: []llm.Model{priced}, Stalls: []int{-1, 5, 40}[rng.IntN(3)], EvalWorst: time.Second}
			maybe := func(p float64) bool { return rng.Float64() < p }
			if maybe(0.5) {
				b.Calls = 1 + rng.IntN(600)
			}
			if maybe(0.5) {
				b.Tokens = int64(500 + rng.IntN(200_000))
			}
			if maybe(0.5) {
				b.FLOPs = 1e6 + rng.Float64()*3e8
			}
			if maybe(0.5) {
				b.Money = 0.01 + rng.Float64()
			}
			if maybe(0.3) {
				b.EvalTime = time.Duration(1+rng.IntN(100)) * time.Second
			}
			b.WallTime = time.Duration(1+rng.IntN(200)) * time.Second
			n, inFlight := 1+rng.IntN(64), 1+rng.IntN(4)
			l := llm.Retry(llm.Limit(wild(seed), 256), llm.RetryConfig{Wait: 100 * time.Millisecond})
			arms, err := GreedyArms(GreedyConfig{Task: sleepy(t, time.Second), LLM: l, N: n}, 1+rng.IntN(8))
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range arms {
				a.(*Greedy).MaxFailures = 1 << 20
			}
			res, books := runLedger(t, Config{Arms: arms, Policy: bandit.Random{}, Budget: b, InFlight: inFlight, Seed: seed})
			bound[res.Limit]++
			checkBudget(t, b, res, books)
		})
	}
	for _, limit := range limits {
		if unseen(limit) {
			t.Errorf("%s never bound in 150 runs: the test sees too little of it (%v)", limit, bound)
		}
	}
}

// runLedger is Run, with a look at the books while it goes and at the end.
func runLedger(t *testing.T, cfg Config) (*Result, *step.Ledger) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		t.Fatal(err)
	}
	d := newDriver(cfg)
	l := d.shared.Ledger
	d.cfg.Observer = func(Event) {
		if spent, reserved := l.Sums(); cfg.Budget.passed(spent.Plus(reserved)) != "" {
			t.Errorf("%s is passed by what is spent and set aside", cfg.Budget.passed(spent.Plus(reserved)))
		}
	}
	res, err := d.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res, l
}

func checkBudget(t *testing.T, b Budget, res *Result, l *step.Ledger) {
	spent, reserved := l.Sums()
	var tokens int64
	var money float64
	attempts, classes, unmetered := 0, 0, 0
	byClass := map[llm.Class]int{}
	for a := range res.Attempts {
		attempts++
		byClass[a.Status.Class()]++
		if a.Usage != nil {
			tokens += int64(a.Usage.PromptTokens + a.Usage.CompletionTokens)
			money += priced.Price.Cost(*a.Usage)
		} else if a.Status == llm.OK {
			unmetered++ // charged in the books, not in the result
		}
	}
	for _, c := range llm.Classes() {
		classes += byClass[c]
	}
	cost := flops.Sum(res.Attempts, priced.ActiveParams, flops.WorstCase).TotalFLOPs
	switch {
	case b.Calls > 0 && res.Calls > b.Calls, b.Tokens > 0 && tokens > b.Tokens, b.Money > 0 && money > b.Money,
		b.FLOPs > 0 && cost > b.FLOPs, b.WallTime > 0 && res.Elapsed > b.WallTime:
		t.Errorf("budget %+v is passed: %d calls, %d tokens, %v money, %v FLOPs, %v", b, res.Calls, tokens, money, cost,
			res.Elapsed)
	case classes != attempts:
		t.Errorf("%d attempts, %d in classes", attempts, classes)
	case reserved.Tokens != 0 || reserved.EvalTime != 0 || math.Abs(reserved.Money) > 1e-9 || math.Abs(reserved.FLOPs) > 1:
		t.Errorf("still set aside at the end: %+v", reserved)
	case b.EvalTime > 0 && spent.EvalTime > b.EvalTime:
		t.Errorf("evaluations took %v of %v", spent.EvalTime, b.EvalTime)
	case unmetered == 0 && spent.FLOPs > cost*(1+1e-6), spent.FLOPs < cost*(1-1e-6):
		t.Errorf("the books say %v FLOPs, the attempts %v", spent.FLOPs, cost)
	}
}

func TestBudgetNeedsModels(t *testing.T) {
	for _, tt := range []struct {
		want string
		b    Budget
	}{
		{"Models is empty", Budget{Tokens: 1}},
		{`the price of model "qwen3-8b"`, Budget{Money: 1, Models: llm.Models()}},
		{`active parameters of model "x"`, Budget{FLOPs: 1, Models: []llm.Model{{Key: "x"}}}},
		{"needs EvalWorst", Budget{EvalTime: 1}},
		{"Budget.Money is NaN", Budget{Money: math.NaN()}},
		{"Budget.WallTime is -1", Budget{WallTime: -time.Second}},
	} {
		if err := tt.b.validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want an error that says %q", tt.b, err, tt.want)
		}
	}
}

func TestStallsHaveACapOfTheirOwn(t *testing.T) {
	for _, tt := range []struct {
		b      Budget
		most   int
		reason string
	}{
		{Budget{Calls: 512}, 51, "a tenth of the calls"},
		{Budget{Calls: 20}, 10, "at least 10"},
		{Budget{Calls: 512, Stalls: 3}, 3, "as told"},
		{Budget{Calls: 512, Stalls: -1}, 0, "no limit as told"},
		{Budget{Rounds: 9}, 0, "no limit where calls have none"},
	} {
		if most := tt.b.stalls(); most != tt.most {
			t.Errorf("%s: %d", tt.reason, most)
		}
	}
}

// An endpoint where everything hangs is given up after the stalls that the budget allows.
func TestStallsStopTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		hang := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			sent++
			time.Sleep(time.Minute)
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Timeout, MaxTokens: 10}}},
				&llm.Error{Status: llm.Timeout, Err: errors.New("too late")}
		}), 1)
		arm, err := NewGreedy(GreedyConfig{Task: sleepy(t, time.Second), LLM: hang, N: 64})
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), Config{Arms: []Arm{arm}, Budget: Budget{Calls: 200}})
		if err != nil || res.Stop != StopBudget || res.Limit != "Stalls" || res.Calls != 0 || sent > 64 {
			t.Errorf("stopped by %s %s after %d calls and %d attempts: %v", res.Stop, res.Limit, res.Calls, sent, err)
		}
	})
}

func TestPatience(t *testing.T) {
	arm, err := NewGreedy(GreedyConfig{Task: sleepy(t, 1), N: 2,
		LLM: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Text: "0"}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Config{Arms: []Arm{arm}, Budget: Budget{Patience: 4}})
	if err != nil || res.Limit != "Patience" || len(res.Rounds) < 4 || len(res.Rounds) > 5 {
		t.Errorf("stopped by %s after %d rounds: %v", res.Limit, len(res.Rounds), err)
	}
}
