package population_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

// doomedRun makes or resumes a run of a population with a Scratchpad, whose evaluator fails at the evaluation of the given
// number; 0 means never.
func doomedRun(t *testing.T, path string, fault int64) (*evolve.Result, any, error) {
	t.Helper()
	inner := numbers(t, "0")
	var made atomic.Int64
	tk := task.WithEvaluator(inner, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		n := made.Add(1)
		time.Sleep(time.Duration(len(program)*37%100) * time.Millisecond)
		if n == fault {
			return eval.Result{}, errors.New("the machine is gone")
		}
		return inner.Evaluate(ctx, program)
	}))
	p := newPopulation(t, population.Config{Task: tk, LLM: slow(3), N: 6, Seed: 11, Archive: population.Top(5),
		Select: population.Uniform(),
		Memory: []population.Memory{&population.Scratchpad{Every: 3}}})
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	res, failed := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Journal: j,
		Budget: evolve.Budget{Calls: 60}})
	data, err := json.Marshal(report.NewGreedy(res, report.Header{Task: "numbers", N: 6}, 11))
	if err != nil {
		t.Fatal(err)
	}
	var x any
	if err := json.Unmarshal(killtest.WithoutTimes(data), &x); err != nil {
		t.Fatal(err)
	}
	return res, x, failed
}

// A run whose evaluator fails once is mended and resumed. It asks for all that was answered before, and comes to the
// result of a run that nobody disturbed: the step that failed asked for nothing that it would not ask for again.
func TestFaultBuysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		undisturbed, want, err := doomedRun(t, filepath.Join(t.TempDir(), "run.journal"), 0)
		if err != nil {
			t.Fatal(err)
		}
		faults, lost, other := 0, 0, 0
		for fault := int64(2); fault < int64(undisturbed.Evaluations); fault += notrun.Length[int64](7, 2) {
			path := filepath.Join(t.TempDir(), "run.journal")
			if _, _, err := doomedRun(t, path, fault); err == nil {
				t.Fatalf("the run survives a fault at evaluation %d", fault)
			}
			faults++
			res, got, err := doomedRun(t, path, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Earlier.Unclaimed) > 0 {
				lost++
			}
			if !cmp.Equal(want, got) {
				other++
			}
		}
		if faults < notrun.Length(5, 20) || lost > 0 || other > 0 {
			t.Errorf("%d faults: %d runs lose answers, %d come to another result, want more, 0 and 0", faults, lost, other)
		}
	})
}
