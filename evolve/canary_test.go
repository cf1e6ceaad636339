package evolve_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// guardedRun makes or resumes a run whose evaluator adds to every score from its drift-th evaluation on; 0 means never.
func guardedRun(t *testing.T, path string, drift int64, canaries ...eval.Canary) (res *evolve.Result, model *counting, evaluations int64, err error) {
	var n atomic.Int64
	numbers := newNumbers(t, "0")
	var e eval.Evaluator = eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		r, err := numbers.Evaluate(ctx, program)
		if i := n.Add(1); drift > 0 && i >= drift {
			r.Score++
		}
		return r, err
	})
	if len(canaries) > 0 {
		e = eval.WithCanaries(eval.Limit(e, 2), canaries...)
	}
	model = newCounting(climber)
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: task.WithEvaluator(numbers, e), LLM: model, N: 4, Seed: 40})
	if err != nil {
		t.Fatal(err)
	}
	j := openJournal(t, path)
	defer j.Close()
	res, err = evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Journal: j,
		Budget: evolve.Budget{Calls: 60}})
	return res, model, n.Load(), err
}

// An evaluator that drifts stops the run. What was paid for is in the journal: mended, the run goes on and pays for nothing
// twice.
func TestCanaryStopsARun(t *testing.T) {
	canary := eval.Canary{Program: "7", Score: 7, Every: 10}
	path := journalPath(t)
	first, model, _, err := guardedRun(t, path, 25, canary)
	if !errors.Is(err, eval.ErrDrift) || first.Stop != evolve.StopError || first.Calls == 0 || first.Calls >= 60 {
		t.Fatalf("%v, %v after %d calls", err, first.Stop, first.Calls)
	}
	paid := model.total()
	res, model, _, err := guardedRun(t, path, 0, canary)
	if err != nil || res.Stop != evolve.StopBudget || res.Calls != 60 || paid+model.total() != 60 {
		t.Errorf("mended: %v, %v after %d calls, of which %d were made before and %d now", err, res.Stop, res.Calls, paid,
			model.total())
	}
}

// An evaluator that is wrong from the start is found before a model is asked.
func TestCanaryBeforeAnythingIsPaidFor(t *testing.T) {
	_, model, _, err := guardedRun(t, journalPath(t), 1, eval.Canary{Program: "7", Score: 7})
	if !errors.Is(err, eval.ErrDrift) || model.total() != 0 {
		t.Errorf("%v after %d calls", err, model.total())
	}
}

// Canaries are in no result and no journal: a run that goes on may leave them out or put them in, and takes what was
// evaluated without them. Its first new evaluation waits for one.
func TestCanariesLeaveNoTrace(t *testing.T) {
	canary := eval.Canary{Program: "7", Score: 7, Every: 10}
	plainPath, path := journalPath(t), journalPath(t)
	plain, _, without, err := guardedRun(t, plainPath, 0)
	if err != nil {
		t.Fatal(err)
	}
	res, _, with, err := guardedRun(t, path, 0, canary)
	if err != nil || res.Evaluations != plain.Evaluations || res.Best.Program != plain.Best.Program || with <= without {
		t.Fatalf("%v: %d evaluations with canaries, %d without; %d and %d made", err, res.Evaluations, plain.Evaluations,
			with, without)
	}
	data, err := os.ReadFile(plainPath)
	if err != nil {
		t.Fatal(err)
	}
	again, model, made, err := guardedRun(t, plainPath, 0, canary)
	if err != nil || model.total() != 0 || made != 0 || again.Best.Program != plain.Best.Program {
		t.Errorf("read again with canaries: %v, %d calls, %d evaluations", err, model.total(), made)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, made, err = guardedRun(t, path, 1, canary); !errors.Is(err, eval.ErrDrift) || made != 1 {
		t.Errorf("resumed with an evaluator that has drifted: %v after %d evaluations, want an error after the canary", err,
			made)
	}
}
