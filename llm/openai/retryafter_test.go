package openai_test

import (
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// Calls that a server turns away with Retry-After: 1 pause for that second, and not for less. TestRetryWhenAndHowOften of package
// llm has that they pause for no longer, by a clock that no machine is late for.
func TestRetryAfterIsThePause(t *testing.T) {
	t.Parallel()
	const calls = 14
	srv := serve(t, llmtest.Config{Fault: llmtest.Must("429 retry-after:1"), RetryAfter: time.Second})
	l := llm.Retry(llm.Limit(newClient(t, srv.URL, model), calls), llm.RetryConfig{})
	var mu sync.Mutex
	var pauses []time.Duration
	ctx := llm.WithTrace(t.Context(), &llm.Trace{Paused: func() func() {
		begin := time.Now()
		return func() {
			mu.Lock()
			defer mu.Unlock()
			pauses = append(pauses, time.Since(begin))
		}
	}})
	var all sync.WaitGroup
	for seed := range uint32(calls) {
		all.Go(func() {
			req := request
			req.Seed = seed
			if _, err := l.Generate(ctx, req); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(pauses) != calls {
		t.Errorf("%d pauses, want one a call", len(pauses))
	}
	for _, p := range pauses {
		if p < time.Second { // what is beyond a second is the machine's
			t.Errorf("a pause of %v, want the second that the server asks for", p)
		}
	}
}
