package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// failed is how a call to a broken endpoint ends.
func failed() (llm.Reply, error) {
	return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindServer, Err: "503", MaxTokens: 100}}},
		&llm.Error{Status: llm.Failed, Kind: llm.KindServer, Code: 503, Err: errors.New("503")}
}

// A run that stopped because every call failed goes on once the endpoint is back: failures that are in
// the file were paid for, and do not stop it again.
func TestJournalResumesAfterTooManyFailures(t *testing.T) {
	path := journalPath(t)
	var broken atomic.Bool
	model := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if broken.Load() {
			return failed()
		}
		return climber(ctx, req)
	}), 1)
	jb := job{k: 2, n: 20, inFlight: 1, calls: 100, model: model}
	broken.Store(true)
	if res, _, err := jb.run(t.Context(), t, path); err == nil || res.Stop != evolve.StopError {
		t.Fatalf("%v, want an error after so many failures", err)
	}
	broken.Store(false)
	res, _, err := jb.run(t.Context(), t, path)
	if err != nil || res.Calls != 100 {
		t.Errorf("resumed: %v", err)
	}
}

// A search that asks what it did not ask before is told so, where it would wait for ever for its own
// generation to end.
func TestJournalNoticesOtherRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		jb := job{k: 3, n: 4, inFlight: 2, calls: 40, model: climber}
		if _, _, err := jb.run(t.Context(), t, path); err != nil {
			t.Fatal(err)
		}
		whole, _ := os.ReadFile(path)
		lines := bytes.SplitAfter(whole, []byte("\n"))
		for _, n := range []int{len(lines) - 1, len(lines) * 3 / 4} {
			if err := os.WriteFile(path, bytes.Join(lines[:n], nil), 0o644); err != nil {
				t.Fatal(err)
			}
			_, _, err := func() (*evolve.Result, []byte, error) {
				j, err := journal.Open(path, journal.Config{Resume: true,
					Fingerprint: journal.Fingerprint{"task": "numbers", "N": "4"}})
				if err != nil {
					return nil, nil, err
				}
				defer j.Close()
				list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: 4, Seed: 99}, 3)
				if err != nil {
					return nil, nil, err
				}
				res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: 2, Journal: j,
					Budget: evolve.Budget{Calls: 40}})
				return res, nil, err
			}()
			if !errors.Is(err, journal.ErrDiverged) || !strings.Contains(err.Error(), "asks for") {
				t.Errorf("%d records: %v, want ErrDiverged that says so", n, err)
			}
		}
	})
}

// A call that failed and for whose second attempt there was no room beside those in flight is a failed
// call: it neither ends the run's budget nor is made again.
func TestRetryWithoutRoomFailsTheCallAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		var first atomic.Bool
		model := newCounting(llm.Retry(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if first.CompareAndSwap(false, true) {
				return failed()
			}
			time.Sleep(10 * time.Second)
			return climber(ctx, req)
		}), llm.RetryConfig{Wait: time.Second}))
		// Room for five calls at their worst, of which four are in flight and one is tried again.
		jb := job{k: 2, n: 6, inFlight: 1, calls: 30, model: model, tweak: func(c *evolve.Config) {
			c.Budget.Tokens, c.Budget.Models = 25_000, []llm.Model{{Key: "m", MaxTokens: 4500, ActiveParams: 1}}
		}}
		res, want, err := jb.run(t.Context(), t, path)
		if err != nil || res.Limit != "Calls" || res.Calls != 30 {
			t.Errorf("stopped by %s after %d calls: %v", res.Limit, res.Calls, err)
		}
		model.sent = map[string]int{}
		_, again, err := jb.run(t.Context(), t, path)
		if err != nil || model.total() != 0 || !bytes.Equal(want, again) {
			t.Errorf("made again: %v, %d calls, equal %v", err, model.total(), bytes.Equal(want, again))
		}
	})
}

// How long a generation took is what the incarnation measured that ended it, however fast its calls are read
// again.
func TestJournalKeepsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		jb := job{k: 2, n: 3, inFlight: 1, calls: 18,
			model: slowly(func(llm.Request) time.Duration { return 4 * time.Second })}
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second) // in the third generation
		defer cancel()
		if res, _, err := jb.run(ctx, t, path); err != nil || res.Stop != evolve.StopCanceled {
			t.Fatalf("stopped by %s: %v", res.Stop, err)
		}
		time.Sleep(time.Hour)
		for range 2 {
			res, _, err := jb.run(t.Context(), t, path)
			if err != nil || len(res.Rounds) != 6 {
				t.Fatalf("%d rounds: %v", len(res.Rounds), err)
			}
			for _, r := range res.Rounds {
				if g := res.Arms[r.Pull.Arm].Generations[r.Generation]; g.Elapsed != 4*time.Second {
					t.Errorf("generation %d of arm %d took %v, want 4 s", g.Index, r.Pull.Arm, g.Elapsed)
				}
			}
		}
	})
}

// plain is a policy that does not print itself, and holds what no two processes have alike.
type plain struct{ own *int }

func (*plain) Probs(p []float64, r bandit.Round) {
	bandit.OneHot(p, r.Open, func(arm int) float64 { return -float64(arm) })
}
func (*plain) Update(bandit.Pull, float64) {}

// Minus zero, which evaluators that return a negated loss reach when they are done, is 0 in a journal.
func TestJournalOfMinusZero(t *testing.T) {
	path := journalPath(t)
	jb := job{k: 2, n: 3, inFlight: 1, calls: 9, model: climber, tweak: func(c *evolve.Config) {
		c.Reward = func(evolve.Generation) float64 { return math.Copysign(0, -1) }
	}}
	for range 2 {
		if _, _, err := jb.run(t.Context(), t, path); err != nil {
			t.Error(err)
		}
	}
}

// A reply with bytes that are no UTF-8, which JSON cannot hold, is acted on as it is recorded.
func TestJournalOfInvalidUTF8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			r, err := climber(ctx, req)
			r.Text = strings.ReplaceAll(r.Text, "```text\n", "```text\n1\xff\xfe")
			return r, err
		})
		jb := job{k: 2, n: 3, inFlight: 1, calls: 9, model: model}
		_, want, err := jb.run(t.Context(), t, path)
		if err != nil {
			t.Fatal(err)
		}
		if _, again, err := jb.run(t.Context(), t, path); err != nil || !bytes.Equal(want, again) {
			t.Errorf("made again: %v (-first +again)\n%s", err, cmp.Diff(string(want), string(again)))
		}
	})
}

// late is a task whose evaluations take long.
func late(t *testing.T, took func(program string) time.Duration) task.Task {
	tk := newNumbers(t, "0").Task
	return task.WithEvaluator(tk, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		select {
		case <-time.After(took(program)):
			return tk.Evaluate(ctx, program)
		case <-ctx.Done():
			return eval.Result{}, ctx.Err()
		}
	}))
}

// Stopped by the time that a run may take, with arms at different stages, a finished run is reproduced.
func TestJournalReplaysWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for wall := 3000 * time.Millisecond; wall < 6*time.Second; wall += notrun.Length(1300*time.Millisecond,
			433*time.Millisecond) {
			path := journalPath(t)
			jb := job{k: 6, n: 5, inFlight: 5, tweak: func(c *evolve.Config) { c.Budget.WallTime = wall },
				model: llm.Limit(llm.Func(
					func(ctx context.Context, req llm.Request) (llm.Reply, error) {
						// Calls end at once or later, and take their time to give up.
						select {
						case <-time.After(time.Duration(req.Seed%977) * time.Millisecond):
							return ok(fmt.Sprintf("```text\n%v\n```", parent(req)+float64(req.Seed%13)), req.Seed), nil
						case <-ctx.Done():
							time.Sleep(time.Duration(req.Seed%97) * time.Millisecond)
							return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 100, Err: "canceled"}}}, ctx.Err()
						}
					}), 12)}
			res, first, err := jb.run(t.Context(), t, path)
			if err != nil || res.Limit != "WallTime" {
				t.Fatalf("stopped by %s %s: %v", res.Stop, res.Limit, err)
			}
			_, again, err := jb.run(t.Context(), t, path)
			if err != nil || !bytes.Equal(first, again) {
				t.Fatalf("%v: made again: %v (-first +again)\n%s", wall, err, cmp.Diff(string(first), string(again)))
			}
		}
	})
}

// stubborn is an arm without a Breeder. If its context ended it returns that as its error, without the cause.
type stubborn struct{ evolve.Arm }

func (s stubborn) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	g, err := s.Arm.Step(ctx, turn)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return g, err
}

func TestWallTimeOfOtherArms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 2,
			LLM: slowly(func(llm.Request) time.Duration { return time.Second })}, 1)
		if err != nil {
			t.Fatal(err)
		}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{stubborn{list[0]}},
			Budget: evolve.Budget{WallTime: 1500 * time.Millisecond}})
		if err != nil || res.Stop != evolve.StopBudget || res.Limit != "WallTime" {
			t.Errorf("stopped by %s %s: %v", res.Stop, res.Limit, err)
		}
	})
}

// What evaluations took, and which were cut off or had no room, stands in the journal.
func TestJournalReplaysEvalTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		slow := late(t, func(p string) time.Duration { return time.Duration(len(p)*7%20) * 100 * time.Millisecond })
		var evaluations atomic.Int64
		counted := task.WithEvaluator(slow, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			evaluations.Add(1)
			return slow.Evaluate(ctx, program)
		}))
		run := func() []byte {
			j, err := journal.Open(path, journal.Config{Resume: true})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: counted, LLM: llm.Limit(climber, 2), N: 8, Seed: 40,
				Strict: true}, 2)
			if err != nil {
				t.Fatal(err)
			}
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Journal: j,
				Budget: evolve.Budget{EvalTime: 20 * time.Second, EvalWorst: 1500 * time.Millisecond}})
			if err != nil || res.Limit != "EvalTime" {
				t.Fatalf("stopped by %s %s: %v", res.Stop, res.Limit, err)
			}
			return asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel, N: 8},
				ArmSeeds: make([]uint32, 2)}))
		}
		first := run()
		if !bytes.Contains(first, []byte("took more than")) || !bytes.Contains(first, []byte("no room")) {
			t.Fatal("nothing was cut off or refused: the test sees nothing")
		}
		evaluations.Store(0)
		begin := time.Now()
		if again := run(); !bytes.Equal(first, again) || evaluations.Load() != 0 || time.Since(begin) > 0 {
			t.Errorf("made again with %d evaluations in %v (-first +again)\n%s", evaluations.Load(), time.Since(begin),
				cmp.Diff(string(first), string(again)))
		}
	})
}

// Waiting for an equal program's evaluation takes none of the time of evaluations.
func TestEvalTimeCountsAnEvaluationOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arm := newGreedy(t, evolve.GreedyConfig{Task: late(t, func(string) time.Duration { return time.Second }), N: 6,
			MaxGenerations: 3,
			LLM: llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				return ok(fmt.Sprint(parent(req)+1), 1), nil
			})})
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm},
			Budget: evolve.Budget{EvalTime: 10 * time.Second, EvalWorst: 1500 * time.Millisecond}})
		if res.Stop != evolve.StopExhausted || res.Calls != 18 {
			t.Errorf("stopped by %s %s after %d calls: one second's evaluation took the time of all", res.Stop, res.Limit,
				res.Calls)
		}
	})
}

// What calls cost that earlier incarnations gave up counts in the budget.
func TestSpendingOutlivesCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		var tokens atomic.Int64
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			select {
			case <-time.After(time.Second):
				r, err := climber(ctx, req)
				tokens.Add(int64(r.Attempts[0].Usage.PromptTokens + r.Attempts[0].Usage.CompletionTokens))
				return r, err
			case <-ctx.Done():
				tokens.Add(300)
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 400, Err: "canceled",
					Usage: &llm.Usage{PromptTokens: 200, CompletionTokens: 100}}}}, ctx.Err()
			}
		})
		jb := job{k: 2, n: 4, inFlight: 1, model: model, tweak: func(c *evolve.Config) {
			c.Budget.Tokens, c.Budget.Models = 10_000, []llm.Model{{Key: "m", MaxTokens: 400, ActiveParams: 1}}
		}}
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			res, _, err := jb.run(ctx, t, path)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if n := tokens.Load(); n > 10_000 {
				t.Fatalf("%d tokens were paid for, with a budget of 10,000", n)
			}
			if res.Stop == evolve.StopBudget {
				return
			}
		}
		t.Error("the run does not end")
	})
}

// Calls that were lost stay so once they are made again.
func TestLostIsNotForgotten(t *testing.T) {
	path := journalPath(t)
	jb := job{k: 2, n: 3, inFlight: 1, calls: 9, model: climber}
	if _, _, err := jb.run(t.Context(), t, path); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	lines := bytes.SplitAfter(data, []byte("\n"))
	begun, ended := 0, 0
	for i, line := range lines {
		begun += bytes.Count(line, []byte(`"kind":"begin"`))
		ended += bytes.Count(line, []byte(`"kind":"completion"`))
		if begun > ended && ended == 4 {
			lines = lines[:i+1]
			break
		}
	}
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		j, err := journal.Open(path, journal.Config{Resume: true,
			Fingerprint: journal.Fingerprint{"task": "numbers", "N": "3"}})
		if err != nil {
			t.Fatal(err)
		}
		if j.Lost() != begun-ended || begun == ended {
			t.Errorf("%d calls lost, want %d", j.Lost(), begun-ended)
		}
		j.Close()
		if _, _, err := jb.run(t.Context(), t, path); err != nil {
			t.Fatal(err)
		}
	}
}

// In the grace period a call that waits for room in the budget is not sent when there is some.
func TestGraceSendsNothingThatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := newCounting(slowly(func(llm.Request) time.Duration { return time.Second }))
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		jb := job{k: 1, n: 8, inFlight: 1, model: model, tweak: func(c *evolve.Config) {
			c.Grace = 10 * time.Second
			c.Budget.Tokens, c.Budget.Models = 9_000, []llm.Model{{Key: "m", MaxTokens: 4000, ActiveParams: 1}}
		}}
		res, _, err := jb.run(ctx, t, "")
		if err != nil || res.Stop != evolve.StopCanceled || model.total() != 2 {
			t.Errorf("stopped by %s with %d sent: %v", res.Stop, model.total(), err)
		}
	})
}

// A server that lies about usage gains nothing by it, and one that sends none does not run for ever.
func TestBudgetOfServersThatLie(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		attempts []llm.Attempt
	}{
		{"negative usage", []llm.Attempt{{Status: llm.OK, MaxTokens: 100,
			Usage: &llm.Usage{PromptTokens: -1000, CompletionTokens: -5}},
			{Status: llm.OK, MaxTokens: 100, Usage: &llm.Usage{PromptTokens: 100, CompletionTokens: 100}}}},
		{"absurd usage", []llm.Attempt{{Status: llm.OK, MaxTokens: 100,
			Usage: &llm.Usage{PromptTokens: math.MaxInt, CompletionTokens: math.MaxInt}}}},
		{"no usage", []llm.Attempt{{Status: llm.OK, MaxTokens: 100}}},
		{"no usage and no cap", []llm.Attempt{{Status: llm.OK}}},
		{"no attempts", nil},
	} {
		for _, limit := range []evolve.Budget{{Tokens: 20_000}, {FLOPs: 40_000}, {Money: 0.02}} {
			b := limit
			b.Models = []llm.Model{{Key: "m", MaxTokens: 100, ActiveParams: 1, Price: &llm.Price{Prompt: 1, Completion: 1}}}
			arm := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 4, MaxGenerations: 200,
				LLM: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
					return llm.Reply{Text: "1", Attempts: tt.attempts}, nil
				})})
			res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: b})
			if res.Stop != evolve.StopBudget || res.Calls < 1 {
				t.Errorf("%s: stopped by %s after %d calls with tokens %d, FLOPs %v, money %v", tt.reason, res.Stop, res.Calls,
					b.Tokens, b.FLOPs, b.Money)
			}
		}
	}
}

// Waiting for a place takes none of the time that an evaluation may take.
func TestEvalTimeDoesNotCountTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := late(t, func(string) time.Duration { return time.Second })
		arm := newNoisy(t, population.Config{Task: task.WithEvaluator(slow, eval.Limit(slow, 2)), N: 20, LLM: climber})
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm},
			Budget: evolve.Budget{Rounds: 1, EvalTime: time.Hour, EvalWorst: 1500 * time.Millisecond}})
		for _, c := range res.Arms[0].Generations[0].Children {
			if strings.Contains(c.Result.Reason, "took more") {
				t.Errorf("child %d: %s", c.Index, c.Result.Reason)
			}
		}
	})
}

// What was answered before too many calls stalled is scored.
func TestStallsRefuseNoEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		arm := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 20,
			LLM: llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				if calls.Add(1) <= 5 {
					time.Sleep(time.Second / 2)
					return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled, MaxTokens: 10}}},
						&llm.Error{Status: llm.Stalled, Err: errors.New("silence")}
				}
				time.Sleep(time.Second)
				return ok("7", req.Seed), nil
			})})
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm},
			Budget: evolve.Budget{Stalls: 2, EvalTime: time.Hour, EvalWorst: time.Second}})
		if res.Limit != "Stalls" || res.Best.Result.Score != 7 {
			t.Errorf("stopped by %s with score %v: an answer was not scored", res.Limit, res.Best.Result.Score)
		}
	})
}

// A run that stops with evaluations under way says the same of them when it is made again.
func TestJournalReplaysEvaluationsThatWereAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		run := func() []byte {
			j, err := journal.Open(path, journal.Config{Resume: true})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: (late(t, func(p string) time.Duration {
				return time.Duration(len(p)*7%20) * 100 * time.Millisecond
			})), LLM: llm.Limit(climber, 2), N: 8, Seed: 40}, 3)
			if err != nil {
				t.Fatal(err)
			}
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Journal: j, InFlight: 2,
				Budget: evolve.Budget{WallTime: 5 * time.Second}})
			if err != nil || res.Limit != "WallTime" {
				t.Fatalf("stopped by %s %s: %v", res.Stop, res.Limit, err)
			}
			return asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel, N: 8},
				ArmSeeds: make([]uint32, 3)}))
		}
		first := run()
		if !bytes.Contains(first, []byte("was abandoned")) {
			t.Fatal("nothing was abandoned: the test sees nothing")
		}
		if again := run(); !bytes.Equal(first, again) {
			t.Errorf("made again (-first +again)\n%s", cmp.Diff(string(first), string(again)))
		}
	})
}

// The text of a program that differs from another only by space that no evaluator's memory looks past is
// no duplicate.
func TestDuplicatesAreThoseEvaluatedOnce(t *testing.T) {
	n := newNumbers(t, "0")
	arm := newGreedy(t, evolve.GreedyConfig{Task: n, N: 3, Seed: 4, LLM: answers(4, 3, func(i int) (llm.Reply, error) {
		return ok([]string{"```text\n5\n```", "```text\n5 \t\n```", "```text\n5\u00a0\n```"}[i], 1), nil
	})})
	duplicates := 0
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 1}})
	for _, c := range res.Arms[0].Generations[0].Children {
		if c.Duplicate {
			duplicates++
		}
	}
	if programs := 4 - int(n.evaluations.Load()); duplicates != programs {
		t.Errorf("%d duplicates, %d were not evaluated", duplicates, programs)
	}
}

// Salvaging what is not there leaves nothing behind.
func TestSalvageOfNothing(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := journal.Salvage(filepath.Join(dir, "no.journal"), filepath.Join(dir, "good")); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "good")); err == nil {
		t.Error("an empty file is left where the journal was to be")
	}
}
