package evolve_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// childless is an arm that scores a program a step and tells of no children.
type childless struct {
	on    eval.Evaluator
	steps int
	best  eval.Candidate
}

func (c *childless) Best() eval.Candidate { return c.best }
func (c *childless) Done() bool           { return false }

func (c *childless) Start(ctx context.Context, turn *evolve.Turn) error {
	r, err := turn.Evaluate(ctx, c.on, "0", 0)
	c.best = eval.Candidate{Program: "0", Result: r}
	return err
}

func (c *childless) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	c.steps++
	gen := evolve.Generation{Index: c.steps, Best: c.best}
	if _, err := turn.Ask(ctx, evolve.KindChild, instant, question("step %d", c.steps)); err != nil {
		return gen, err
	}
	_, err := turn.Evaluate(ctx, c.on, fmt.Sprint(c.steps), 0)
	return gen, err
}

// An arm that tells of no children makes as many calls of judges a program as any, and uses up the calls of its run.
func TestChildlessArmUsesItsCalls(t *testing.T) {
	for _, judges := range []int{1, 3} {
		on := &named{"judged", func(ctx context.Context, program string) (eval.Result, error) {
			for i := range judges {
				if _, err := llm.Ask(ctx, instant, question("judge %d of %s", i, program)); err != nil {
					return eval.Result{}, err
				}
			}
			return eval.Result{Valid: true, Score: 1}, nil
		}}
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{&childless{on: on}}, Budget: evolve.Budget{Calls: 400}})
		if res.Limit != "Calls" || res.Calls < 400-judges {
			t.Errorf("%d judges: ended by %s after %d calls of 400", judges, res.Limit, res.Calls)
		}
	}
}
