package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A queueing is a queue that somebody wrote: it announces its attempts by llm.Send.
type queueing struct{ llm.LLM }

func (queueing) Announces() bool { return true }

// What a model asks of another is part of its call, which has the attempts of both and counts once. The inner one does not
// wait for room that its own outer one holds, which would be for ever, and neither do several for each other's.
func TestModelThatAsksAnother(t *testing.T) {
	for _, tt := range []struct{ calls, n, asks int }{{1, 4, 1}, {2, 4, 1}, {7, 4, 1}, {8, 4, 1}, {9, 8, 2}, {30, 5, 3}} {
		synctest.Test(t, func(t *testing.T) {
			inner := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				time.Sleep(time.Second)
				return ok("a plan", req.Seed), nil
			}), 1)
			outer := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				for i := range tt.asks {
					llm.Ask(ctx, inner, llm.Request{Seed: req.Seed + uint32(i)})
				}
				time.Sleep(time.Second)
				return climber(ctx, req)
			})
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: outer, N: tt.n, Seed: 40})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			path := journalPath(t)
			run := func(g evolve.Arm) (*evolve.Result, error) {
				j := openJournal(t, path)
				defer j.Close()
				return evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: tt.calls}, Journal: j})
			}
			res, err := run(g)
			again, bad := run(newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: outer, N: tt.n, Seed: 40}))
			attempts := func(r *evolve.Result) (n int) {
				for range r.Attempts {
					n++
				}
				return n
			}
			if bad != nil || again.Calls != res.Calls || attempts(again) != attempts(res) || len(again.Earlier.Unclaimed) > 0 {
				t.Errorf("budget of %d: made again, it has %d attempts of %d, and %d calls are unclaimed: %v",
					tt.calls, attempts(again), attempts(res), len(again.Earlier.Unclaimed), bad)
			}
			if want := tt.calls * (1 + tt.asks); attempts(res) != want {
				t.Errorf("budget of %d: %d attempts, want %d with those of the other model", tt.calls, attempts(res), want)
			}
			if err != nil || res.Limit != "Calls" || res.Calls != tt.calls {
				t.Errorf("budget of %d: stopped by %s %s after %d calls: %v", tt.calls, res.Stop, res.Limit, res.Calls, err)
			}
		})
	}
}

// Tokens that a model has another one use count in the budget, whether it tells of them, as a model without a run has to,
// or not. A run that is made again has spent the same, and one that is killed before the model answers has paid the other.
func TestTokensOfAnotherModel(t *testing.T) {
	for _, tells := range []bool{false, true} {
		used := func(n int, latency time.Duration) llm.Reply {
			return llm.Reply{Text: "9", Attempts: []llm.Attempt{{Status: llm.OK, Latency: latency,
				Usage: &llm.Usage{CompletionTokens: n}}}}
		}
		path, killed := journalPath(t), journalPath(t)
		inner := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return used(70, 1), nil })
		outer := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			plan, err := llm.Ask(ctx, inner, llm.Request{Seed: req.Seed})
			if data, bad := os.ReadFile(path); bad == nil && bytes.Count(data, []byte(`"kind":"completion"`)) == 3 {
				os.WriteFile(killed, data, 0o600)
			}
			reply := used(30, 2)
			if tells {
				reply.Attempts = append(plan.Attempts, reply.Attempts...)
			}
			return reply, err
		})
		run := func(path string) (*evolve.Result, map[int]int) {
			j := openJournal(t, path)
			defer j.Close()
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: outer, N: 1, Seed: 40})
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Journal: j,
				Budget: evolve.Budget{Tokens: 1000, Models: []llm.Model{{Key: "m", MaxTokens: 70}}}})
			if err != nil || res.Limit != "Tokens" {
				t.Fatalf("stopped by %s %s: %v", res.Stop, res.Limit, err)
			}
			by := make(map[int]int)
			for a := range res.Attempts {
				by[a.Usage.CompletionTokens]++
			}
			return res, by
		}
		for range 2 {
			if _, by := run(path); by[70] != 6 || by[30] != 7 {
				t.Errorf("tells %v: of attempts of 70 and 30 tokens there are %v", tells, by)
			}
		}
		res, _ := run(killed)
		if e := res.Earlier; len(e.Lost) != 1 || len(e.Abandoned) != 1 || e.Abandoned[0][0].Known().CompletionTokens != 70 {
			t.Errorf("tells %v: after a kill before the answer: %+v", tells, e)
		}
	}
}

// planning is a model that has no attempt of its own: it asks another three times at once.
type planning struct{ llm.LLM }

func (p planning) Unwrap() llm.LLM { return p.LLM }

func (p planning) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	var g errgroup.Group
	for i := range 3 {
		g.Go(func() error {
			if i == 2 && req.Seed == 3 {
				bad := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { panic("inner") })
				if _, err := llm.Ask(ctx, bad, req); err == nil {
					return errors.New("a panic was not told")
				}
				return nil
			}
			_, err := llm.Ask(ctx, p.LLM, llm.Request{Seed: uint32(i)})
			return err
		})
	}
	return llm.Reply{Text: "9"}, g.Wait()
}

// judging is a search of which nobody knows how many calls a step makes.
type judging struct {
	evolve.Arm
	by llm.LLM
}

func (j judging) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	for i := range 50 {
		if _, err := turn.Ask(ctx, "judge", j.by, llm.Request{Seed: uint32(i)}); err != nil {
			return evolve.Generation{}, err
		}
	}
	return evolve.Generation{}, nil
}

// A model that only asks others makes calls that the budget counts and bounds like any other, and its inner panics cost
// no process.
func TestModelThatOnlyAsks(t *testing.T) {
	var sent atomic.Int64
	base := llm.Limit(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		sent.Add(1)
		return llm.Reply{Text: "9", Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{CompletionTokens: 1}}}}, nil
	}), 100)
	var arms []evolve.Arm
	for range 2 {
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: base, N: 1})
		arms = append(arms, judging{g, planning{base}})
	}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.Random{}, InFlight: 2,
		Budget: evolve.Budget{Calls: 7}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Limit != "Calls" || res.Calls != 7 || sent.Load() < 19 || sent.Load() > 21 {
		t.Errorf("stopped by %s %s after %d calls, %d sent", res.Stop, res.Limit, res.Calls, sent.Load())
	}
}

// A model may have several attempts of one call under way: each holds its own room in the budget and gives it back,
// and a kill loses each.
func TestModelThatHedges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		var kill sync.Once
		var killed []byte
		base := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			time.Sleep(time.Second)
			kill.Do(func() {
				killed, _ = os.ReadFile(path)
			})
			time.Sleep(time.Second)
			return climber(ctx, req)
		}), 100)
		hedge := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			replies := make(chan llm.Reply)
			for range 2 {
				go func() {
					r, _ := llm.Send(ctx, base, req)
					replies <- r
				}()
			}
			a, b := <-replies, <-replies
			a.Attempts = append(a.Attempts, b.Attempts...)
			return a, nil
		})
		run := func(path string) *evolve.Result {
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: queueing{hedge}, N: 4, Seed: 40})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			j := openJournal(t, path)
			defer j.Close()
			res, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{g}, Journal: j,
				Budget: evolve.Budget{Calls: 20, Tokens: 1e5, Models: []llm.Model{{Key: "m", MaxTokens: 800, ActiveParams: 1}}}})
			attempts := 0
			for range res.Attempts {
				attempts++
			}
			if err != nil || res.Limit != "Calls" || res.Calls != 20 || attempts != 40 {
				t.Fatalf("stopped by %s %s after %d calls and %d attempts: %v", res.Stop, res.Limit, res.Calls, attempts, err)
			}
			return res
		}
		run(path)
		part := journalPath(t)
		if err := os.WriteFile(part, killed, 0o600); err != nil {
			t.Fatal(err)
		}
		begun := bytes.Count(killed, []byte(`"kind":"begin"`))
		if res := run(part); len(res.Earlier.Lost) != begun || begun != 8 {
			t.Errorf("%d attempts were under way at a kill, of which %d are lost", begun, len(res.Earlier.Lost))
		}
	})
}

// Attempts that a model forgets, or that it made before it panicked, are in the result and in the journal.
func TestModelThatForgetsAttempts(t *testing.T) {
	for _, panics := range []bool{false, true} {
		sent := 0
		base := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			sent++
			return failed()
		}), 1)
		fallback := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			llm.Send(ctx, base, req)
			if panics {
				panic("no other model")
			}
			sent++
			return llm.Send(ctx, climber, req)
		})
		path := journalPath(t)
		j := openJournal(t, path)
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: queueing{fallback}, N: 1, Seed: 40})
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 3}, Journal: j})
		j.Close()
		if (err != nil) != panics {
			t.Fatal(err)
		}
		attempts, kept := 0, 0
		for range res.Attempts {
			attempts++
		}
		for _, kind := range []record.Kind{record.Completion, record.Abandoned} {
			for _, r := range records(t, path, kind) {
				kept += len(r.Reply.Attempts)
			}
		}
		if attempts != sent || kept != sent {
			t.Errorf("panics %v: %d attempts were made, %d are in the result and %d in the journal", panics, sent, attempts,
				kept)
		}
	}
}

// A keyed model says which one it is, as endpoints do.
type keyed struct {
	llm.LLM
	key    string
	silent bool // attempts do not say whose they are
}

func (keyed) Announces() bool { return true }

func (k keyed) Generate(ctx context.Context, req llm.Request) (reply llm.Reply, err error) {
	trace := llm.TraceOf(ctx)
	if err := trace.Send(k.key); err != nil {
		return llm.Reply{}, err
	}
	defer func() { trace.Ended(reply.Attempts) }()
	reply, err = k.LLM.Generate(ctx, req)
	for i := range reply.Attempts {
		reply.Attempts[i].Usage = &llm.Usage{CompletionTokens: 100}
		if !k.silent {
			reply.Attempts[i].Model = k.key
		}
	}
	return reply, err
}

// A cheap model is asked while there is money for it, though one call of another model of the budget would cost more. It
// is charged as what it was announced as, whether its attempts say so or not.
func TestMoneyForACheapModel(t *testing.T) {
	for _, silent := range []bool{false, true} {
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: keyed{llm.Func(climber), "cheap", silent}, N: 4,
			Seed: 1})
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g},
			Budget: evolve.Budget{Money: 10, Models: []llm.Model{
				{Key: "dear", MaxTokens: 100, Price: &llm.Price{Completion: 1e6}},
				{Key: "cheap", MaxTokens: 100, Price: &llm.Price{Completion: 1e4}},
			}}})
		if err != nil || res.Calls != 10 || res.Limit != "Money" {
			t.Errorf("%d calls of 1 each were made for 10, stopped by %s %s: %v", res.Calls, res.Stop, res.Limit, err)
		}
		for a := range res.Attempts {
			if a.Model != "cheap" {
				t.Fatalf("an attempt at %q, want cheap", a.Model)
			}
		}
	}
}
