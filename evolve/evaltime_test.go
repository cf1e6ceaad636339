package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// timed is the task with evaluations that take 0.5 to 1.5 s by the program, one at a time.
func timed(tk task.Task) task.Task {
	return task.WithEvaluator(tk, eval.Limit(eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		sum := 0
		for _, b := range []byte(program) {
			sum = sum*31 + int(b)
		}
		time.Sleep(500*time.Millisecond + time.Duration(uint(sum)%1000)*time.Millisecond)
		return tk.Evaluate(ctx, program)
	}), 1))
}

// Where the time for evaluations is limited, no more children are asked for than can be evaluated, however many calls are
// in flight. With more time the run goes on, and what it was given before stands.
func TestEvalTimeHoldsCallsBack(t *testing.T) {
	for _, tt := range []struct {
		name   string
		arms   int
		window int
	}{
		{"4 arms of 64", 4, 0},
		{"one step of 512 with a window of 256", 1, 256},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := journalPath(t)
				model := newCounting(slowly(func(req llm.Request) time.Duration { return time.Duration(req.Seed%5000) * time.Millisecond }))
				run := func(limit time.Duration) (*evolve.Result, []string) {
					j := openJournal(t, path)
					defer j.Close()
					var arms []evolve.Arm
					for i := range tt.arms {
						arms = append(arms, newGreedy(t, evolve.GreedyConfig{Task: timed(newNumbers(t, "0")), LLM: model, Seed: uint32(i),
							N: max(64, 2*tt.window), Window: tt.window}))
					}
					res := mustRun(t, evolve.Config{Arms: arms, Policy: bandit.Random{}, InFlight: tt.arms, Journal: j,
						Budget: evolve.Budget{Rounds: 30, EvalTime: limit, EvalWorst: 5 * time.Second}})
					return res, childrenOf(res)
				}
				res, want := run(60 * time.Second)
				scored, unscored := scoredOf(res)
				t.Logf("%d calls, %d children scored and %d not, in %d rounds", model.total(), scored, unscored, len(res.Rounds))
				if res.Limit != "EvalTime" || scored < 40 || unscored > scored/5 {
					t.Errorf("stopped by %s, with %d children that have a program scored and %d not, want 40 or more, and at most a fifth", res.Limit, scored, unscored)
				}
				sent := model.total()
				if _, again := run(60 * time.Second); model.total() != sent || !cmp.Equal(want, again) {
					t.Errorf("made again, it sends %d calls and has other children:\n%s", model.total()-sent, cmp.Diff(want, again))
				}
				res, _ = run(180 * time.Second)
				more, unscored := scoredOf(res)
				if more < 2*scored || unscored > more/5 || len(res.Earlier.Unclaimed) > 0 {
					t.Errorf("with three times the time, %d are scored and %d not, and %d answers lost", more, unscored,
						len(res.Earlier.Unclaimed))
				}
			})
		})
	}
}

// scoredOf counts the children with a program, by whether they have a score.
func scoredOf(res *evolve.Result) (scored, unscored int) {
	for _, arm := range res.Arms {
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				switch {
				case c.Scored():
					scored++
				case c.HasProgram():
					unscored++
				}
			}
		}
	}
	return scored, unscored
}

// childrenOf lists the children of a result.
func childrenOf(res *evolve.Result) (list []string) {
	for i, arm := range res.Arms {
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				list = append(list, fmt.Sprint(i, g.Index, c.Index, c.ID, c.Parents, c.Seed, c.Result.Score, c.Err))
			}
		}
	}
	return list
}

// More time for evaluations may leave more fresh samples of a noisy run's best, which come off its evaluations. Then the
// steps in the journal would be other ones, so the raise is refused before it is in the journal.
func TestRaisedEvalTimeKeepsFreshSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		run := func(limit time.Duration) (*evolve.Result, error) {
			j := openJournal(t, path)
			defer j.Close()
			tk := newNumbers(t, "0")
			slow := task.WithEvaluator(tk, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
				time.Sleep(time.Second)
				return tk.Evaluate(ctx, program)
			}))
			arm := newNoisy(t, population.Config{Task: slow, LLM: climber, N: 4, Seed: 40, Noise: &evolve.Noise{Fresh: 16}})
			return evolve.Run(t.Context(), evolve.Config{Journal: j, Arms: []evolve.Arm{arm},
				Budget: evolve.Budget{Evaluations: 50, EvalTime: limit, EvalWorst: 5 * time.Second}})
		}
		first, err := run(60 * time.Second)
		if err != nil || first.Limit != "EvalTime" {
			t.Fatalf("ended by %q: %v", first.Limit, err)
		}
		before, _ := os.ReadFile(path)
		_, err = run(600 * time.Second)
		if want := "raise it to less than 1m20s"; !errors.Is(err, journal.ErrDiverged) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("with ten times the time: %v, want %s", err, want)
		}
		if after, _ := os.ReadFile(path); bytes.Contains(after[len(before):], []byte(`"kind":"raise"`)) {
			t.Error("the refused raise is in the journal")
		}
		if res, err := run(60 * time.Second); err != nil || res.Calls != first.Calls {
			t.Errorf("with the same time: %d calls, want %d: %v", res.Calls, first.Calls, err)
		}
		if res, err := run(79 * time.Second); err != nil || res.Calls <= first.Calls {
			t.Errorf("with a little more time: %d calls, %d before: %v", res.Calls, first.Calls, err)
		}
	})
}

// A program that had no time to be evaluated is evaluated where it comes again after a raise.
func TestRaisedEvalTimeScoresRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			time.Sleep(time.Millisecond * time.Duration(req.Seed%100))
			return ok(fmt.Sprintf("```text\n%v\n```", req.Seed%40+1), req.Seed), nil
		})
		run := func(limit time.Duration) (*evolve.Result, []string) {
			j := openJournal(t, path)
			defer j.Close()
			var arms []evolve.Arm
			for i := range 2 {
				tk := newNumbers(t, "0")
				slow := task.WithEvaluator(tk, eval.Limit(eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
					time.Sleep(time.Second)
					if len(program) > 1 {
						time.Sleep(3 * time.Second)
					}
					return tk.Evaluate(ctx, program)
				}), 4))
				arms = append(arms, newGreedy(t, evolve.GreedyConfig{Task: slow, LLM: model, N: 8, Seed: uint32(i)}))
			}
			res := mustRun(t, evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: 2, Journal: j,
				Budget: evolve.Budget{Calls: 400, EvalTime: limit, EvalWorst: 5 * time.Second}})
			return res, childrenOf(res)
		}
		res, _ := run(30 * time.Second)
		if _, unscored := scoredOf(res); res.Limit != "EvalTime" || unscored == 0 {
			t.Fatalf("ended by %s with %d programs that were not scored: the test sees nothing", res.Limit, unscored)
		}
		res, want := run(3000 * time.Second)
		if res.Limit != "Calls" || res.Calls != 400 {
			t.Errorf("after the raise: ended by %s after %d calls and %d evaluations", res.Limit, res.Calls, res.Evaluations)
		}
		if again, got := run(3000 * time.Second); again.Calls != res.Calls || !cmp.Equal(want, got) {
			t.Errorf("made again: %d calls, want %d\n%s", again.Calls, res.Calls, cmp.Diff(want, got))
		}
	})
}
