package python

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A wait for an interpreter is told to whoever limits the time of an evaluation: it is none of the program's.
func TestWaitForAnInterpreterIsQueued(t *testing.T) {
	e := newTestEvaluator(t, folder(t, "def evaluate(path): return {'combined_score': 2.0}\n"),
		EvaluatorConfig{Config: Config{Workers: 1}})
	for _, tt := range []struct {
		reason string
		gone   bool // the evaluation is given up while it waits
	}{{"its turn comes", false}, {"it is given up", true}} {
		if err := e.pool.sem.Acquire(t.Context(), 1); err != nil { // as another evaluation would
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		queued, served := make(chan bool), make(chan bool, 1)
		ctx = llm.WithTrace(ctx, &llm.Trace{Queued: func() func() {
			queued <- true
			return func() { served <- true }
		}})
		ended := make(chan error)
		var score float64
		go func() {
			r, err := e.Evaluate(ctx, "x = 1\n")
			score = r.Score
			ended <- err
		}()
		select {
		case <-queued:
		case err := <-ended:
			t.Fatalf("%s: it ends, without an interpreter: %v", tt.reason, err)
		case <-time.After(5 * time.Minute):
			e.pool.sem.Release(1) // so that the evaluator can be closed
			t.Fatalf("%s: it waits, and says so to nobody", tt.reason)
		}
		if len(served) > 0 {
			t.Errorf("%s: it is served while the interpreter is another's", tt.reason)
		}
		if tt.gone {
			cancel()
		} else {
			e.pool.sem.Release(1)
		}
		switch err := <-ended; {
		case tt.gone && !errors.Is(err, context.Canceled), !tt.gone && (err != nil || score != 2):
			t.Errorf("%s: %v, %v", tt.reason, score, err)
		case len(served) != 1:
			t.Errorf("%s: the wait does not end", tt.reason)
		}
		if tt.gone {
			e.pool.sem.Release(1)
		}
	}
}
