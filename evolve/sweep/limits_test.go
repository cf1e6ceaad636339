package sweep_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A gauge counts how many are under way at once.
type gauge struct{ now, most atomic.Int64 }

// enter begins one, which takes a moment, so that others can begin meanwhile.
func (g *gauge) enter() (leave func()) {
	n := g.now.Add(1)
	for most := g.most.Load(); n > most && !g.most.CompareAndSwap(most, n); most = g.most.Load() {
	}
	time.Sleep(time.Millisecond)
	return func() { g.now.Add(-1) }
}

// The limits hold for all models and all tasks together, and are used to the full; and no more runs are under way than
// AtOnce says.
func TestLimitsAreShared(t *testing.T) {
	var calls, evaluations gauge
	p := grid(3, []int{16}, sweep.Greedy(4), sweep.Greedy(8))
	p.Models, p.Tasks = nil, nil
	for _, key := range []string{"one", "two"} {
		inner := guess()
		p.Models = append(p.Models, sweep.Model{Spec: llm.Model{Key: key},
			LLM: llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				defer calls.enter()()
				return inner.LLM.Generate(ctx, req)
			})})
		inside := number()
		tk, err := task.New(task.Spec{Name: key, Language: "text", Initial: "1",
			Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
				defer evaluations.enter()()
				return inside.Evaluate(ctx, program)
			})})
		if err != nil {
			t.Fatal(err)
		}
		p.Tasks = append(p.Tasks, tk)
	}
	var runs crowd
	made(t, p, sweep.Config{Dir: t.TempDir(), Calls: 5, Evaluations: 3, AtOnce: 6, Observer: runs.observe})
	if calls.most.Load() != 5 || evaluations.most.Load() != 3 {
		t.Errorf("%d calls and %d evaluations at once, want 5 and 3", calls.most.Load(), evaluations.most.Load())
	}
	if runs.most != 6 {
		t.Errorf("%d runs at once, want 6", runs.most)
	}
}

// Wide runs fill the limits, and then no more are begun: each would keep a file open and its calls in memory for nothing.
func TestWideRunsAreFew(t *testing.T) {
	p := grid(8, []int{64}, sweep.Greedy(64))
	var runs crowd
	made(t, p, sweep.Config{Dir: t.TempDir(), Calls: 8, Evaluations: 8, Observer: runs.observe})
	if runs.most != 2 { // of 64 children each, for eight times 16
		t.Errorf("%d runs of 64 children at once, want 2", runs.most)
	}
}

// A call that waits in the shared limit when the sweep is stopped is not sent.
func TestWaitingCallsAreNotSent(t *testing.T) {
	p := grid(1, []int{64}, sweep.Greedy(64))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	model, calls := counted(p.Models[0], func(ctx context.Context, n int) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	p.Models[0] = model
	dir := t.TempDir()
	if r, err := p.Run(ctx, sweep.Config{Dir: dir, Calls: 2}); err != nil || r.Left != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if calls.total() > 2 {
		t.Errorf("%d calls were sent, the limit is 2", calls.total())
	}
}
