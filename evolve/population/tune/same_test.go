package tune_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
)

// jitter takes a time that differs from run to run.
type jitter struct{ waves }

func (j jitter) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	time.Sleep(rand.N(time.Second))
	return j.waves.Evaluate(ctx, program)
}

func (jitter) String() string { return "jitter" }

// Where several searches that are stepped one at a time share the tune evaluations of a run, and these end within a step,
// the same seeds give the same result, whatever ends first.
func TestSameSeedsAtTheEndOfTheTuneBudget(t *testing.T) {
	var want []string
	for i := range 6 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, start)
			var arms []evolve.Arm
			for seed := range uint32(3) {
				p, err := population.New(population.Config{Task: w.task, LLM: model(t), N: 6, Seed: seed,
					Archive: population.Top(8), Select: population.Uniform(),
					Operators: []population.Operator{population.Rewrite{}, &tune.Tuner{On: jitter{waves{&w.made}}, Evaluations: 120}}})
				if err != nil {
					t.Fatal(err)
				}
				arms = append(arms, p)
			}
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: bandit.Random{},
				Budget: evolve.Budget{Calls: 60, TuneEvaluations: 1000}, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			got := []string{fmt.Sprint(res.TuneEvaluations, res.Best.Program)}
			for _, arm := range res.Arms {
				for _, g := range arm.Generations {
					got = append(got, fmt.Sprint(g.Index, g.TuneEvaluations))
					for _, c := range g.Children {
						got = append(got, fmt.Sprint(g.Index, c.Index, c.ID, c.Parents, c.Operator, c.Seed, c.Result.Score, c.Err))
					}
				}
			}
			if i == 0 {
				want = got
			}
			if res.TuneEvaluations < 900 {
				t.Errorf("%d tune evaluations: the test is about a budget that ends", res.TuneEvaluations)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("run %d comes to another result:\n%.1500s", i, diff)
			}
		})
	}
}
