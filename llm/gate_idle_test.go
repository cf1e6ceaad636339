package llm_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A run is not told of a place that a call of another run, which shares the limit, waits for.
func TestLimitIsNotIdleWhileOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.Limit(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			time.Sleep(time.Second)
			return llm.Reply{}, nil
		}), 1)
		said := 0
		ctx := llm.WithIdle(t.Context(), func() { said++ })
		var wg sync.WaitGroup
		wg.Go(func() { l.Generate(ctx, say("x", 0)) })
		synctest.Wait()
		wg.Go(func() { l.Generate(t.Context(), say("x", 1)) })
		wg.Go(func() { l.Generate(t.Context(), say("x", 2)) })
		wg.Wait()
		if said != 0 {
			t.Errorf("said %d times while calls of another run waited", said)
		}
		l.Generate(ctx, say("x", 3))
		if said != 1 {
			t.Errorf("said %d times when none waited, want once", said)
		}
	})
}
