package evolve_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A run that a lost evaluation of its initial program ended goes on once the judge answers.
func TestLostStartGoesOn(t *testing.T) {
	path := journalPath(t)
	var gone atomic.Bool
	judge := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if gone.Load() {
			return failed()
		}
		return instant(ctx, req)
	})
	run := func() error {
		j := openJournal(t, path)
		defer j.Close()
		arm := newGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, "0"), judge), LLM: climber, N: 4, Seed: 40})
		_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Journal: j,
			Budget: evolve.Budget{Calls: 40}})
		return err
	}
	gone.Store(true)
	if err := run(); !evolve.Lost(err) {
		t.Errorf("without a judge: %v", err)
	}
	gone.Store(false)
	if err := run(); err != nil {
		t.Errorf("mended: %v", err)
	}
}

// A strictArm is an arm of its own that returns every error, as a lost evaluation's.
type strictArm struct {
	on    eval.Evaluator
	steps int
	best  eval.Candidate
}

func (a *strictArm) Best() eval.Candidate { return a.best }
func (a *strictArm) Done() bool           { return a.steps == 20 }

func (a *strictArm) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	a.steps++
	gen := evolve.Generation{Index: a.steps, Before: a.best, Best: a.best}
	reply, err := turn.Ask(ctx, evolve.KindChild, instant, question("step %d", a.steps))
	if err != nil {
		return gen, err
	}
	program := fmt.Sprint("p", a.steps, reply.Text)
	r, err := turn.Evaluate(ctx, a.on, program, 0)
	if c := (eval.Candidate{Program: program, Result: r}); err == nil && c.Better(a.best) {
		a.best, gen.Best = c, c
	}
	return gen, err
}

// The same of an arm that ends the run by it in the middle, and goes on with what was scored before.
func TestLostEvaluationOfAnOwnArmGoesOn(t *testing.T) {
	path := journalPath(t)
	var gone atomic.Bool
	judge := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if gone.Load() && strings.Contains(req.Messages[0].Content, "p5") {
			return failed()
		}
		return instant(ctx, req)
	})
	on := &named{"judged", func(ctx context.Context, program string) (eval.Result, error) {
		_, err := llm.Ask(ctx, judge, question("is it good %s", program))
		return eval.Result{Valid: err == nil, Score: float64(len(program))}, err
	}}
	run := func() (*evolve.Result, error) {
		j := openJournal(t, path)
		defer j.Close()
		return evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{&strictArm{on: on}}, Journal: j,
			Budget: evolve.Budget{Rounds: 20}})
	}
	gone.Store(true)
	if _, err := run(); !evolve.Lost(err) {
		t.Errorf("without a judge: %v", err)
	}
	gone.Store(false)
	for range 2 {
		if res, err := run(); err != nil || len(res.Rounds) != 20 || len(res.Earlier.Unclaimed) > 0 {
			t.Errorf("mended: %d rounds, %v", len(res.Rounds), err)
		}
	}
}

// A program whose evaluation was lost is scored when it is asked for again, with a journal as without one.
func TestLostProgramIsScoredLater(t *testing.T) {
	scored := make(map[bool]int)
	for _, durable := range []bool{false, true} {
		calls := 0
		judge := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if calls++; calls == 2 { // the first for a child
				return failed()
			}
			return instant(ctx, req)
		})
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			return ok("```text\n7\n```", req.Seed), nil
		})
		cfg := evolve.Config{Budget: evolve.Budget{Calls: 40}}
		if durable {
			cfg.Journal = openJournal(t, journalPath(t))
		}
		cfg.Arms = []evolve.Arm{newGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, "0"), judge), LLM: model, N: 1,
			Seed: 40})}
		var lost int
		if scored[durable], lost = scoredOf(mustRun(t, cfg)); lost != 1 {
			t.Errorf("durable %v: %d children are lost, want 1", durable, lost)
		}
	}
	if scored[true] < 30 || scored[true] != scored[false] {
		t.Errorf("%d children are scored with a journal, and %d without", scored[true], scored[false])
	}
}
