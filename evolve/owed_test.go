package evolve_test

import (
	"bytes"
	"context"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// lateAsker makes one step: it waits, and then asks and evaluates some times, one after the other.
type lateAsker struct {
	wait  time.Duration
	seed  uint32
	times int
	model llm.LLM
	eval  eval.Evaluator
	done  bool
}

func (a *lateAsker) Done() bool           { return a.done }
func (a *lateAsker) Best() eval.Candidate { return eval.Candidate{} }
func (a *lateAsker) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	a.done = true
	time.Sleep(a.wait)
	for i := range a.times {
		reply, err := turn.Ask(ctx, "child", a.model, llm.Request{Seed: a.seed + uint32(i)})
		if err == nil {
			_, err = turn.Evaluate(ctx, a.eval, reply.Text, 0)
		}
		if err != nil {
			return evolve.Generation{}, err
		}
	}
	return evolve.Generation{Index: 1}, nil
}

// What the journal holds of a step that a kill cut short takes its room in the budget, even if that step asks for
// it only after another one has gone on.
func TestOwedBeforeNewCalls(t *testing.T) {
	for name, budget := range map[string]evolve.Budget{
		"calls": {Calls: 2},
		"tokens": {Tokens: 1000, Models: []llm.Model{{MaxTokens: 400,
			ActiveParams: 1}}}, // answers that say nothing of usage
		"evaluations": {Evaluations: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls, evaluations atomic.Int64
				model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
					calls.Add(1)
					time.Sleep(time.Duration(req.Seed) * time.Second)
					return llm.Reply{Text: string(rune('a' + req.Seed)), Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
				})
				scorer := &named{"scorer", func(context.Context, string) (eval.Result, error) {
					evaluations.Add(1)
					return eval.Result{Score: 1, Valid: true}, nil
				}}
				path := journalPath(t)
				life := func(slow time.Duration) {
					j := openJournal(t, path)
					defer j.Close()
					arms := []evolve.Arm{
						&lateAsker{wait: slow, seed: 1, times: 1, model: model, eval: scorer},
						&lateAsker{seed: 10, times: 3, model: model, eval: scorer},
					}
					if _, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: 2, Journal: j,
						Budget: budget}); err != nil {
						t.Error(err)
					}
				}
				life(0)
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				calls.Store(0)
				evaluations.Store(0)
				if name == "evaluations" {
					calls.Store(-1) // one may ask for an evaluation that has no room
				}
				end := bytes.Index(whole, []byte(`"kind":"evaluation"`))
				end += bytes.IndexByte(whole[end:], '\n') + 1
				if err := os.WriteFile(path, whole[:end], 0o600); err != nil {
					t.Fatal(err)
				}
				life(time.Minute)
				if calls, evaluations := calls.Load(), evaluations.Load(); calls != 1 || evaluations != 1 {
					t.Errorf("beside the call and the evaluation in the file, %d calls and %d evaluations were made", calls,
						evaluations)
				}
			})
		})
	}
}

// named is an evaluator that can be compared, and so remembered.
type named struct {
	name string
	f    eval.Func
}

func (n *named) String() string { return n.name }
func (n *named) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return n.f(ctx, program)
}
