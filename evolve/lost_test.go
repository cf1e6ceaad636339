package evolve_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// A failed call of an evaluator costs one child its score and not the run, which comes to the same when it is resumed after
// any record. A child without its score is shown as failed.
func TestFailedJudgeCostsOneChild(t *testing.T) {
	judge := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if strings.HasSuffix(req.Messages[0].Content, "3") { // by the program, so that a run that is resumed has the same
			return failed()
		}
		return instant(ctx, req)
	})
	run := func(path string) (*evolve.Result, []string) {
		j := openJournal(t, path)
		defer j.Close()
		arm := newGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, "0"), judge), LLM: climber, N: 8, Seed: 40})
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Journal: j, Budget: evolve.Budget{Rounds: 8}})
		return res, childrenOf(res)
	}
	path := journalPath(t)
	res, want := run(path)
	scored, unscored := scoredOf(res)
	told := 0
	for _, r := range records(t, path, record.Child) {
		if r.State == books.StateFailed && strings.HasPrefix(r.Reason, "its evaluation is lost") {
			told++
		}
	}
	if scored < 30 || unscored < 3 || told != unscored {
		t.Errorf("%d children are scored, and %d are not, of which the journal tells of %d: the test is about some of each",
			scored, unscored, told)
	}
	for cut := range killtest.About(t, path, 3, 40) {
		if again, got := run(cut.Path); !cmp.Equal(want, got) || len(again.Earlier.Unclaimed) > 0 ||
			again.Calls != res.Calls {
			t.Fatalf("resumed after record %d it has %d calls, want %d, and other children:\n%s", cut.Records, again.Calls,
				res.Calls, cmp.Diff(want, got))
		}
	}
}

// A judge that is gone ends the run after a streak, as a model does. Mended, the run goes on.
func TestJudgeGoneEndsTheRun(t *testing.T) {
	path := journalPath(t)
	var gone atomic.Bool
	var lost atomic.Int64
	judge := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if gone.Load() && !strings.HasSuffix(req.Messages[0].Content, "\n0") {
			lost.Add(1)
			return failed()
		}
		return instant(ctx, req)
	})
	run := func() (*evolve.Result, error) {
		j := openJournal(t, path)
		defer j.Close()
		arm := newGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, "0"), judge), LLM: climber, N: 4, Seed: 40})
		return evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Journal: j, Budget: evolve.Budget{Calls: 200}})
	}
	gone.Store(true)
	res, err := run()
	if err == nil || !strings.Contains(err.Error(), "32 evaluations in a row") || res.Stop != evolve.StopError ||
		lost.Load() < 32 || lost.Load() > 36 {
		t.Errorf("stopped by %s after %d failed calls of the judge: %v", res.Stop, lost.Load(), err)
	}
	gone.Store(false)
	if res, err = run(); err != nil || res.Limit != "Calls" || len(res.Earlier.Unclaimed) > 0 {
		t.Errorf("mended: stopped by %s after %d calls, %d answers lost: %v", res.Limit, res.Calls,
			len(res.Earlier.Unclaimed), err)
	}
}
