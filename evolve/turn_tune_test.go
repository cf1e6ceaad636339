package evolve_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// length scores a program by its length, and counts how often it is asked.
type length struct{ made *atomic.Int64 }

func (l length) Evaluate(_ context.Context, program string) (eval.Result, error) {
	l.made.Add(1)
	return eval.Result{Valid: true, Score: float64(len(program)), Metrics: map[string]float64{"a": 1},
		Artifacts: map[string]string{"b": "c"}}, nil
}

func (length) String() string { return "length" }

// tunes is an arm whose step scores programs for a tuner, several at once, and then each for real.
type tunes struct {
	t        *testing.T
	e        eval.Evaluator
	programs []string
	refused  atomic.Int64
	steps    int
}

func (a *tunes) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	a.steps++
	var wg sync.WaitGroup
	for _, p := range a.programs {
		wg.Go(func() {
			r, err := turn.Tune(ctx, a.e, p)
			if limit, refused := evolve.Refused(err); refused {
				if a.refused.Add(1); limit != "TuneEvaluations" {
					a.t.Errorf("refused by %q", limit)
				}
				return
			}
			if err != nil || r.Score != float64(len(p)) || r.Metrics != nil || r.Artifacts != nil {
				a.t.Errorf("%q: %+v, %v: want its length and nothing else", p, r, err)
			}
		})
	}
	wg.Wait()
	for _, p := range a.programs {
		if _, err := turn.Evaluate(ctx, a.e, p, 0); err != nil {
			a.t.Error(err)
		}
	}
	return evolve.Generation{Index: a.steps, Best: a.Best()}, nil
}

func (a *tunes) Best() eval.Candidate {
	return eval.Candidate{Program: "p", Result: eval.Result{Valid: true}}
}
func (a *tunes) Done() bool { return a.steps == 2 }

func TestTune(t *testing.T) {
	for _, tt := range []struct {
		budget, tuned, refused int
		reason                 string
	}{
		{100, 3, 0, "a program is scored once in a run, whatever white space ends it"},
		{3, 3, 0, "exactly enough"},
		{2, 2, 0, "what the budget has no room for is refused, and the run goes on"},
		{0, 0, 0, "0 means none"},
	} {
		var made atomic.Int64
		arm := &tunes{t: t, e: length{&made}, programs: []string{"a", "bb", "ccc", "a"}}
		r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm},
			Budget: evolve.Budget{Rounds: 5, TuneEvaluations: tt.budget}})
		if err != nil || r.Stop != evolve.StopExhausted || len(r.Rounds) != 2 {
			t.Fatalf("budget %d: stop %s after %d rounds, %v: %s", tt.budget, r.Stop, len(r.Rounds), err, tt.reason)
		}
		if r.TuneEvaluations != tt.tuned || r.Evaluations != 3 || r.Calls != 0 || int(made.Load()) != tt.tuned+3 {
			t.Errorf("budget %d: %d tune evaluations, %d evaluations, %d made, want %d, 3 and %d: %s", tt.budget,
				r.TuneEvaluations, r.Evaluations, made.Load(), tt.tuned, tt.tuned+3, tt.reason)
		}
		if sum := r.Arms[0].Generations[0].TuneEvaluations +
			r.Arms[0].Generations[1].TuneEvaluations; sum != r.TuneEvaluations {
			t.Errorf("budget %d: the generations have %d tune evaluations, the run %d", tt.budget, sum, r.TuneEvaluations)
		}
		if tt.budget < 3 != (arm.refused.Load() > 0) {
			t.Errorf("budget %d: %d are refused: %s", tt.budget, arm.refused.Load(), tt.reason)
		}
	}
	if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{&tunes{}},
		Budget: evolve.Budget{Rounds: 1, TuneEvaluations: -1}}); err == nil ||
		!strings.Contains(err.Error(), "TuneEvaluations is -1") {
		t.Errorf("a negative budget: %v", err)
	}
	var none *evolve.Turn
	if r, err := none.Tune(t.Context(), length{&atomic.Int64{}}, "four"); err != nil || r.Score != 4 ||
		none.TuneBudget() != math.MaxInt {
		t.Errorf("by hand: %v, %v", r, err)
	}
}
