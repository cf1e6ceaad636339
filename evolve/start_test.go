package evolve_test

import (
	"bytes"
	"context"
	"errors"
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

// advised asks for advice before its first step, and does without it if there is none.
type advised struct {
	evolve.Breeder
	seed uint32
}

func (a *advised) Calls() int { return 4 }

func (a *advised) Start(ctx context.Context, turn *evolve.Turn) error {
	turn.Ask(ctx, "advice", a.LLM, llm.Request{Seed: a.seed, Messages: []llm.Message{{Role: llm.User, Content: "advice"}}})
	return a.Breeder.Start(ctx, turn)
}

func (a *advised) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return a.Breed(ctx, turn, 4, func(i int) evolve.Brief {
		return evolve.Brief{Request: task.Request{Parents: []eval.Candidate{a.Best()}},
			Seed: evolve.ChildSeed(a.seed, 4, a.Steps()-1, i)}
	}, nil)
}

// What an arm asks for before its first step is in the budget and the result, and a failure there stands once the
// run has gone past it, whatever ends the run later: to make it again would wait for what comes after it.
func TestCallsBeforeTheFirstStep(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var sick atomic.Bool
			var sent, answered atomic.Int64
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				sent.Add(1)
				time.Sleep(time.Second)
				advice := req.Messages[0].Content == "advice"
				switch {
				case advice && fails:
					return failed()
				case sick.Load() && answered.Load() > 10:
					return llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Err: errors.New("connection refused")}
				}
				answered.Add(1)
				if advice {
					return ok("be bold", req.Seed), nil
				}
				return climber(ctx, req)
			})
			run := func(path string) (*evolve.Result, []byte, error) {
				var arms []evolve.Arm
				for i := range 2 {
					arms = append(arms, &advised{evolve.Breeder{Task: newNumbers(t, "0"), LLM: model}, uint32(i)})
				}
				cfg := evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Calls: 30}}
				if path != "" {
					cfg.Journal = openJournal(t, path)
					defer cfg.Journal.Close()
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				res, err := evolve.Run(ctx, cfg)
				return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
					ArmSeeds: make([]uint32, 2)})), err
			}
			_, want, err := run("")
			if err != nil || answered.Load() != 30 {
				t.Fatalf("undisturbed: %d calls were answered of a budget of 30: %v", answered.Load(), err)
			}
			path := journalPath(t)
			sent.Store(0)
			answered.Store(0)
			sick.Store(true)
			if _, _, err := run(path); !llm.Unavailable(err) {
				t.Fatal(err)
			}
			sick.Store(false)
			res, got, err := run(path)
			attempts := 0
			for range res.EachCall {
				attempts++
			}
			if err != nil || res.Limit != "Calls" || res.Calls != 30 || int(answered.Load()) != 30 ||
				!bytes.Equal(thisLife(t, got), thisLife(t, want)) {
				t.Errorf("advice fails %v: stopped by %s %s with %d calls of %d answered: %v", fails, res.Stop, res.Limit,
					res.Calls, answered.Load(), err)
			}
			if fails && attempts != 32 || !fails && attempts != 30 {
				t.Errorf("advice fails %v: %d calls in the result", fails, attempts)
			}
		})
	}
}

// A run whose time is over before an arm has started ends so, and again when it is made again: nothing waits for
// the draws that never were. With more time it goes on.
func TestWallTimeBeforeTheFirstStep(t *testing.T) {
	for _, cause := range []func(context.Context) error{context.Cause, context.Context.Err} { // what evaluators return
		synctest.Test(t, func(t *testing.T) {
			path := journalPath(t)
			run := func(wall time.Duration) (*evolve.Result, error) {
				j := openJournal(t, path)
				defer j.Close()
				tk := newNumbers(t, "0")
				slow := task.WithEvaluator(tk, eval.Func(func(ctx context.Context, p string) (eval.Result, error) {
					select {
					case <-time.After(20 * time.Second):
						return tk.Evaluate(ctx, p)
					case <-ctx.Done():
						return eval.Result{}, cause(ctx)
					}
				}))
				var arms []evolve.Arm
				for i := range 2 {
					arms = append(arms, &advised{evolve.Breeder{Task: slow, LLM: climber}, uint32(i)})
				}
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				return evolve.Run(ctx, evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Journal: j,
					Budget: evolve.Budget{WallTime: wall, Calls: 20}})
			}
			for range 2 {
				if res, err := run(10 * time.Second); err != nil || res.Stop != evolve.StopBudget || res.Limit != "WallTime" {
					t.Fatalf("stopped by %s %s: %v", res.Stop, res.Limit, err)
				}
			}
			if res, err := run(time.Hour); err != nil || res.Limit != "Calls" || res.Calls != 20 {
				t.Errorf("with more time: stopped by %s %s with %d calls: %v", res.Stop, res.Limit, res.Calls, err)
			}
		})
	}
}
