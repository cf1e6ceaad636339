package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// heedless is an arm of a user's own that looks at no error. A step evaluates a program, and meanwhile has calls wait in a
// queue. Then it asks about the score, and evaluates what it is told.
type heedless struct {
	model llm.LLM
	eval  eval.Evaluator
	steps int
	best  eval.Candidate
}

func (h *heedless) Best() eval.Candidate { return h.best }
func (h *heedless) Done() bool           { return h.steps == 3 }
func (h *heedless) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	h.steps++
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { turn.Ask(ctx, "plan", h.model, question("plan %d of step %d", i, h.steps)) })
	}
	program := fmt.Sprint(h.steps)
	r, _ := turn.Evaluate(ctx, h.eval, program, 0)
	wg.Wait()
	reply, _ := turn.Ask(ctx, "review", h.model, question("it scores %v in step %d", r.Score, h.steps))
	turn.Evaluate(ctx, h.eval, "after "+reply.Text, 0)
	turn.Tune(ctx, h.eval, "tuned "+reply.Text)
	if c := (eval.Candidate{Program: program, Result: r}); c.Better(h.best) {
		h.best = c
	}
	return evolve.Generation{Index: h.steps, Best: h.best}, nil
}

func question(format string, args ...any) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: fmt.Sprintf(format, args...)}}}
}

// After a fault that ends the run, a step of a search that looks at no error asks for nothing new: neither what it asks for
// then, nor what waits in a queue. What was sent is awaited. Mended and resumed, no answer is lost.
func TestDoomedStepBuysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		broken, scored := false, 0
		model := newCounting(llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			time.Sleep(time.Minute)
			return ok("an answer to "+req.Messages[0].Content, 1), nil
		}))
		scorer := &named{"scorer", func(_ context.Context, program string) (eval.Result, error) {
			time.Sleep(30 * time.Second)
			if broken && program == "2" {
				return eval.Result{}, errors.New("the machine is gone")
			}
			scored++
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		}}
		run := func() (*evolve.Result, error) {
			j := openJournal(t, path)
			defer j.Close()
			return evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{&heedless{model: llm.Limit(model, 2), eval: scorer}},
				Journal: j,
				Budget:  evolve.Budget{Calls: 1000, TuneEvaluations: 100}})
		}
		broken = true
		res, err := run()
		// The first step makes 5 calls and 3 evaluations, and the second has 2 calls on the wire when its first evaluation fails.
		if err == nil || err.Error() != "the machine is gone" || res.Stop != evolve.StopError || model.total() != 7 ||
			res.Calls != 7 || scored != 3 {
			t.Errorf("%d calls and %d evaluations are made, want 7 and 3; stopped by %s: %v", model.total(), scored, res.Stop,
				err)
		}
		broken = false
		if res, err = run(); err != nil || model.total() != 15 || res.Calls != 15 || scored != 9 ||
			len(res.Earlier.Unclaimed)+len(res.Earlier.Abandoned) > 0 {
			t.Errorf("resumed, %d calls and %d evaluations are made, want 15 and 9; earlier %+v, %v", model.total(), scored,
				res.Earlier, err)
		}
	})
}

// After a fault of a model, a search that looks at no error evaluates nothing new either, and its step ends with the fault.
func TestModelGoneDoomsTheStep(t *testing.T) {
	model := newCounting(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed}}},
			&llm.Error{Status: llm.Failed, Err: fmt.Errorf("the key is not known: %w", llm.ErrUnavailable)}
	}))
	scored := 0
	scorer := &named{"scorer", func(context.Context, string) (eval.Result, error) {
		scored++
		return eval.Result{Valid: true}, nil
	}}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{&heedless{model: llm.Limit(model, 1),
		eval: scorer}}, Budget: evolve.Budget{Calls: 1000}})
	if !llm.Unavailable(err) || res.Stop != evolve.StopError || model.total() > 4 || scored > 1 {
		t.Errorf("%d calls and %d evaluations, want at most the 4 that are asked at once and 1; stopped by %s: %v",
			model.total(), scored, res.Stop, err)
	}
}
