package remote

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/task"
)

// The workers of a process, one for each of several tasks, share its processors.
func TestWorkersOfOneProcessShareItsProcessors(t *testing.T) {
	h, err := start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}()
	var now, most, made atomic.Int64
	score := eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		made.Add(1)
		return eval.Result{Valid: true, Score: float64(len(program))}, nil
	})
	const each = 40
	var asking sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		tk, err := task.New(task.Spec{Name: name, Initial: "x", Evaluator: score})
		if err != nil {
			t.Fatal(err)
		}
		digest, err := nats.Digest(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		id, server := nats.Task{Name: name, Digest: digest}, nats.Server{InProcess: h.server}
		if err := h.work(server, id, tk); err != nil {
			t.Fatal(err)
		}
		e, err := nats.New(t.Context(), nats.Config{Server: server, Task: id, Unserved: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for i := range each {
			asking.Go(func() {
				program := fmt.Sprint(name, i)
				if r, err := e.Evaluate(t.Context(), program); err != nil || r.Score != float64(len(program)) {
					t.Errorf("%s: %+v, %v", program, r, err)
				}
			})
		}
	}
	asking.Wait()
	if want := int64(runtime.NumCPU()); most.Load() > want || made.Load() != 3*each {
		t.Errorf("%d evaluations, at most %d at once, want %d on the %d processors", made.Load(), most.Load(), 3*each, want)
	}
}
