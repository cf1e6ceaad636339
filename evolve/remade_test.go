package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
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
					res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: inFlight,
						Journal: j, Budget: evolve.Budget{Calls: 40}})
					return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
						ArmSeeds: make([]uint32, 3)})), err
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
					t.Fatalf("call %d failed, %d in flight: with a healthy endpoint: stopped by %s with %d calls: %v", fails, inFlight,
						res.Stop, res.Calls, err)
				}
				all, n := readReport(t, got).Total, 0
				for _, class := range llm.Classes() {
					n += all.Attempts[class]
				}
				if int64(n) != sent.Load() {
					t.Errorf("call %d failed, %d in flight: %d attempts were made, %d are in the account", fails, inFlight,
						sent.Load(), n)
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
				g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, N: n, Window: window, Order: order,
					Seed: 40, MaxGenerations: 1})
				return evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 100}, Journal: j})
			}
			path := journalPath(t)
			if res, err := run(path); !llm.Unavailable(err) || res.Calls != 20 {
				t.Fatalf("%v: %d calls: %v", order, res.Calls, err)
			}
			well.Store(true)
			res, err := run(path)
			if err != nil || res.Stop != evolve.StopExhausted || res.Calls != n-1 || model.total() != n-1-20 ||
				len(res.Earlier.Unclaimed) > 0 {
				t.Errorf("%v: stopped by %s with %d calls, of which %d were made now and %d answers were not asked for again: %v",
					order, res.Stop, res.Calls, model.total(), len(res.Earlier.Unclaimed), err)
			}
			if _, err := run(path); err != nil || model.total() != 0 {
				t.Errorf("%v: made again with %d calls: %v", order, model.total(), err)
			}
		})
	}
}

// Of a call that is under way at a kill, the attempts that had ended stand in the account, and the one that had
// not is lost: as many as the endpoint saw.
func TestAttemptsBeforeAKillAreCounted(t *testing.T) {
	for _, retries := range []int{-1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			model := llm.Retry(llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				if sent.Add(1)%4 == 0 {
					time.Sleep(time.Minute)
					return climber(ctx, req)
				}
				time.Sleep(time.Second)
				return failed()
			}), 8), llm.RetryConfig{Max: retries, Wait: time.Second})
			path := journalPath(t)
			jb := job{k: 2, n: 8, inFlight: 1, calls: 16, model: model, tweak: func(c *evolve.Config) { c.Grace = time.Hour }}
			seen := 0
			for range 3 { // killed in the middle, three times
				killed := make(chan []byte)
				before := sent.Load()
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					time.Sleep(30500 * time.Millisecond)
					data, err := os.ReadFile(path)
					if err != nil {
						t.Error(err)
					}
					seen += int(sent.Load() - before)
					cancel()
					killed <- data
				}()
				go jb.run(ctx, t, path)
				data := <-killed
				time.Sleep(time.Hour) // until the process is gone
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := sent.Load()
			_, got, err := jb.run(t.Context(), t, path)
			if err != nil {
				t.Fatal(err)
			}
			seen += int(sent.Load() - before)
			n, all := 0, readReport(t, got).Total
			for _, class := range llm.Classes() {
				n += all.Attempts[class]
			}
			if n != seen || all.Lost == 0 || retries > 0 && all.Aborted == 0 {
				t.Errorf("%d retries: the endpoint saw %d attempts, %d are in the account (%d lost, %d calls aborted)", retries,
					seen, n, all.Lost, all.Aborted)
			}
		})
	}
}

// fickle is a search whose requests depend on how often it was begun, as they may on the time or on the order of
// a map.
type fickle struct {
	evolve.Breeder
	lives *atomic.Int64
	life  int64
}

func (f *fickle) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	if f.life == 0 {
		f.life = f.lives.Add(1)
	}
	return f.Breed(ctx, turn, 6, func(i int) evolve.Brief {
		return evolve.Brief{Request: task.Request{Parents: []eval.Candidate{f.Best()}},
			Seed: uint32(f.life)<<16 | uint32(f.Steps()*100+i)}
	}, nil)
}

// The answers that a search does not ask for again after a kill were paid for: they are counted, and told of.
func TestAnswersThatNobodyAsksForAgain(t *testing.T) {
	var logged strings.Builder
	was := slog.Default()
	defer slog.SetDefault(was)
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	var lives atomic.Int64
	run := func(path string) (*evolve.Result, []byte) {
		j := openJournal(t, path)
		defer j.Close()
		arm := &fickle{Breeder: evolve.Breeder{Task: newNumbers(t, "0"), LLM: climber}, lives: &lives}
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 1}, Journal: j})
		return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
			ArmSeeds: make([]uint32, 1)}))
	}
	path := journalPath(t)
	if res, _ := run(path); len(res.Earlier.Unclaimed) > 0 || logged.Len() > 0 {
		t.Fatalf("undisturbed: %+v\n%s", res.Earlier, &logged)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	answered, kept := 0, 0
	for answered < 4 {
		answered += bytes.Count(lines[kept], []byte(`"kind":"completion"`))
		kept++
	}
	if err := os.WriteFile(path, bytes.Join(lines[:kept], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	logged.Reset()
	res, got := run(path)
	all := readReport(t, got).Total
	if res.Calls != 6 || len(res.Earlier.Unclaimed) != 4 || all == nil || all.Unclaimed != 4 || all.Calls[llm.Real] != 10 {
		t.Errorf("%d calls in the result, %d answers not asked for again; the account has %+v", res.Calls,
			len(res.Earlier.Unclaimed), all)
	}
	if !strings.Contains(logged.String(), "level=WARN") || !strings.Contains(logged.String(), "calls=4") {
		t.Errorf("the log says %q, want a warning of 4 calls", &logged)
	}
}
