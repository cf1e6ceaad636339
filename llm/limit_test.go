package llm_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

func TestLimitHoldsRequestsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		slow := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return llm.Reply{}, nil
		})
		l, start := llm.Limit(slow, 3), time.Now()
		var wg sync.WaitGroup
		for range 9 {
			wg.Go(func() {
				if _, err := l.Generate(t.Context(), llm.Request{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 3 {
			t.Errorf("%d in flight at most, want 3", most.Load())
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("nine took %v, want 3s: no place stays empty", d)
		}
	})
}

// Models under one limit share its slots, and each gets its own calls.
func TestLimitAroundSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		var asked [2]atomic.Int64
		model := func(i int) llm.LLM {
			return llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
				asked[i].Add(1)
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return llm.Reply{}, nil
			})
		}
		one := llm.Limit(model(0), 3)
		both := []llm.LLM{one, one.(interface{ Around(llm.LLM) llm.LLM }).Around(model(1))}
		var wg sync.WaitGroup
		for i := range 9 {
			wg.Go(func() {
				if _, err := both[i%2].Generate(t.Context(), llm.Request{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 3 || asked[0].Load() != 5 || asked[1].Load() != 4 {
			t.Errorf("%d in flight at most, want 3; %d and %d calls, want 5 and 4", most.Load(), asked[0].Load(),
				asked[1].Load())
		}
	})
}

func TestLimitWaiterThatGivesUpWasNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := llm.Limit(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			<-release
			return llm.Reply{Attempts: make([]llm.Attempt, 1)}, nil
		}), 1)
		var wg sync.WaitGroup
		wg.Go(func() { l.Generate(t.Context(), llm.Request{}) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		reply, err := l.Generate(ctx, llm.Request{})
		if !errors.Is(err, context.DeadlineExceeded) || len(reply.Attempts) != 0 {
			t.Errorf("reply %v, error %v; want no attempt and the context's error", reply, err)
		}
		close(release)
		wg.Wait()
	})
}

func TestLimitServesFirstComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var served []uint32
		l := llm.Limit(llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			served = append(served, req.Seed)
			time.Sleep(time.Second)
			return llm.Reply{}, nil
		}), 1)
		var wg sync.WaitGroup
		for i := range uint32(100) {
			wg.Go(func() { l.Generate(t.Context(), say("x", i)) })
			synctest.Wait()
		}
		wg.Wait()
		if !slices.IsSorted(served) || len(served) != 100 {
			t.Errorf("served %v", served)
		}
	})
}

func TestLimitNeedsAPlace(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Limit of 0 did not panic: it would wait for ever")
		}
	}()
	llm.Limit(llm.Func(nil), 0)
}
