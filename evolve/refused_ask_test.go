package evolve_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// An evaluator asks a judge twice, and the budget has room for some of that only. Whether it makes do or gives up,
// the run ends by the budget: with every call, or with those that are too few for a child and its judge left. So it does
// when it is made again from its journal.
func TestEvaluatorsThatTheBudgetRefuses(t *testing.T) {
	for _, tt := range []struct {
		reason string
		strict bool
	}{{"it scores without the judge", false}, {"it gives up", true}} {
		for calls := 1; calls < 10; calls++ {
			path := journalPath(t)
			spent := calls
			if calls > 2 { // the initial program takes 2, and a child 3
				spent -= (calls - 2) % 3
			}
			judge := newCounting(climber)
			run := func() (*evolve.Result, []byte) {
				j := openJournal(t, path)
				defer j.Close()
				tk := newNumbers(t, "0")
				judged := task.WithEvaluator(tk, eval.Func(func(ctx context.Context, p string) (eval.Result, error) {
					for i := range uint32(2) {
						_, err := llm.Ask(ctx, judge, llm.Request{Seed: i,
							Messages: tk.Prompt(task.Request{Parents: []eval.Candidate{{Program: p}}})})
						if err != nil && tt.strict {
							return eval.Result{}, err
						}
					}
					return tk.Evaluate(ctx, p)
				}))
				g := newGreedy(t, evolve.GreedyConfig{Task: judged, LLM: judge, N: 1, Seed: 43})
				res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Journal: j,
					Budget: evolve.Budget{Calls: calls}})
				if err != nil || res.Limit != "Calls" || res.Calls != spent || len(res.Earlier.Unclaimed) > 0 {
					t.Fatalf("%s, budget of %d: stopped by %s %s after %d calls, %d unclaimed: %v", tt.reason, calls, res.Stop,
						res.Limit, res.Calls, len(res.Earlier.Unclaimed), err)
				}
				return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
					ArmSeeds: make([]uint32, 1)}))
			}
			_, want := run()
			if _, got := run(); !bytes.Equal(got, want) || judge.total() != spent {
				t.Errorf("%s, budget of %d: made again, it comes to another result after %d calls", tt.reason, calls, judge.total())
			}
		}
	}
}
