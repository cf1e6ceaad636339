package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// A search that gives up when a call failed past its retries goes on once the endpoint is well: the call is made
// again, however often the run was tried meanwhile, and what the failures cost is in the account.
func TestFailedCallIsMadeAgain(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		for _, fails := range []int64{1, 7, 23} { // the call that does
			synctest.Test(t, func(t *testing.T) {
				var calls, sent atomic.Int64
				var well atomic.Bool
				endpoint := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
					sent.Add(1)
					if time.Sleep(time.Second); calls.Add(1) >= fails && !well.Load() {
						return failed()
					}
					return ok("x", req.Seed), nil
				})
				run := func(path string) (*evolve.Result, []byte, error) {
					j := openJournal(t, path)
					defer j.Close()
					var arms []evolve.Arm
					for i := range 3 {
						arms = append(arms, &asker{l: llm.Retry(llm.Limit(endpoint, 8), llm.RetryConfig{}), n: 4, seed: uint32(i)})
					}
					res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: inFlight, Journal: j, Budget: evolve.Budget{Calls: 40}})
					return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel}, ArmSeeds: make([]uint32, 3)})), err
				}
				path := journalPath(t)
				for range 3 { // and where it was tried again, calls has gone past that one
					if res, _, err := run(path); err == nil || res.Stop != evolve.StopError {
						t.Fatalf("stopped by %s: want the error", res.Stop)
					}
				}
				well.Store(true)
				res, got, err := run(path)
				if err != nil || res.Calls < 40 || res.Limit != "Calls" {
					t.Fatalf("call %d failed, %d in flight: with a healthy endpoint: stopped by %s with %d calls: %v", fails, inFlight, res.Stop, res.Calls, err)
				}
				all, n := readReport(t, got).Total, 0
				for _, class := range llm.Classes() {
					n += all.Attempts[class]
				}
				if int64(n) != sent.Load() {
					t.Errorf("call %d failed, %d in flight: %d attempts were made, %d are in the account", fails, inFlight, sent.Load(), n)
				}
				if _, again, err := run(path); err != nil || !bytes.Equal(got, again) {
					t.Errorf("call %d failed, %d in flight: its journal does not reproduce it: %v", fails, inFlight, err)
				}
			})
		}
	}
}

// A failure that cost a child of a Breeder, after which others were answered, stands: what was asked for after it
// may follow from it, and would be paid for in vain.
func TestFailureStandsOnceOthersWereAnswered(t *testing.T) {
	const n, window = 30, 4
	for _, order := range []evolve.Order{evolve.ByIndex, evolve.AsTheyEnd} {
		synctest.Test(t, func(t *testing.T) {
			var well atomic.Bool
			var answered atomic.Int64
			unlucky := evolve.ChildSeed(40, n, 0, 6)
			model := newCounting(llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				time.Sleep(time.Duration(req.Seed%977) * time.Millisecond)
				switch {
				case !well.Load() && req.Seed == unlucky:
					return failed()
				case !well.Load() && answered.Load() == 20:
					return llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Err: errors.New("connection refused")}
				case req.Seed == unlucky: // it would be the parent of all that follow
					return ok(fmt.Sprintf("```text\n%v\n```", parent(req)+100), req.Seed), nil
				}
				answered.Add(1)
				return ok(fmt.Sprintf("```text\n%v\n```", parent(req)+float64(req.Seed%10)), req.Seed), nil
			}), window))
			run := func(path string) (*evolve.Result, error) {
				model.sent = map[string]int{}
				j := openJournal(t, path)
				defer j.Close()
				g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, N: n, Window: window, Order: order, Seed: 40, MaxGenerations: 1})
				return evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 100}, Journal: j})
			}
			path := journalPath(t)
			if res, err := run(path); !llm.Unavailable(err) || res.Calls != 20 {
				t.Fatalf("%v: %d calls: %v", order, res.Calls, err)
			}
			well.Store(true)
			res, err := run(path)
			if err != nil || res.Stop != evolve.StopExhausted || res.Calls != n-1 || model.total() != n-1-20 || len(res.Earlier.Unclaimed) > 0 {
				t.Errorf("%v: stopped by %s with %d calls, of which %d were made now and %d answers were not asked for again: %v",
					order, res.Stop, res.Calls, model.total(), len(res.Earlier.Unclaimed), err)
			}
			if _, err := run(path); err != nil || model.total() != 0 {
				t.Errorf("%v: made again with %d calls: %v", order, model.total(), err)
			}
		})
	}
}
