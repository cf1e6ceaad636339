package eval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		e := Limit(Func(func(context.Context, string) (Result, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return Result{Valid: true}, nil
		}), 3)
		start := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := e.Evaluate(t.Context(), ""); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); most.Load() != 3 || took != 4*time.Second {
			t.Errorf("at most %d at once in %v, want 3 in 4s", most.Load(), took)
		}
	})
}

// Evaluators behind one limit share its places, and each scores its own programs.
func TestLimitAroundSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		scoring := func(score float64) Evaluator {
			return Func(func(context.Context, string) (Result, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return Result{Valid: true, Score: score}, nil
			})
		}
		one := Limit(scoring(0), 3)
		both := []Evaluator{one, one.(interface{ Around(Evaluator) Evaluator }).Around(scoring(1))}
		var wg sync.WaitGroup
		for i := range 9 {
			wg.Go(func() {
				if r, err := both[i%2].Evaluate(t.Context(), ""); err != nil || r.Score != float64(i%2) {
					t.Errorf("%+v, %v, want the score %d", r, err, i%2)
				}
			})
		}
		wg.Wait()
		if most.Load() != 3 {
			t.Errorf("%d at once, want 3", most.Load())
		}
	})
}

// slow takes a second.
var slow = Func(func(ctx context.Context, _ string) (Result, error) {
	time.Sleep(time.Second)
	return Result{Valid: true}, ctx.Err()
})

func TestLimitWaiterGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := Limit(slow, 1)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = e.Evaluate(t.Context(), "") })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := e.Evaluate(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		wg.Wait()
		if _, err := e.Evaluate(t.Context(), ""); err != nil {
			t.Errorf("the place of one that gave up is lost: %v", err)
		}
	})
}

func TestLimitOfNone(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != "eval: Limit of 0 evaluations at once: need at least 1" {
			t.Errorf("panic %q", got)
		}
	}()
	Limit(slow, 0)
}

func TestLimitTellsWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := Limit(Func(func(context.Context, string) (Result, error) {
			time.Sleep(time.Second)
			return Result{Valid: true}, nil
		}), 1)
		var wg sync.WaitGroup
		var waited, ended atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		for range 4 { // they wait 0, 1, 2 and 2.5 seconds, the last in vain
			wg.Go(func() {
				ctx := llm.WithTrace(ctx, &llm.Trace{Queued: func() func() {
					begin := time.Now()
					return func() { waited.Add(int64(time.Since(begin))); ended.Add(1) }
				}})
				_, _ = e.Evaluate(ctx, "")
			})
		}
		wg.Wait()
		if got := time.Duration(waited.Load()); got != 5500*time.Millisecond || ended.Load() != 4 {
			t.Errorf("%d waits of %v in all, want 4 of 5.5s", ended.Load(), got)
		}
	})
}
