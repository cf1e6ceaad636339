package llm_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A quota sends at most cap(sent) requests in any interval, as hosted endpoints ask for, however long
// their answers take. Like Limit it gives a call up whose context ends or that drains, and it tells the
// call's Trace when the call waits, when it is sent and when a place is free.
type quota struct {
	llm.LLM
	interval time.Duration
	sent     chan struct{} // holds a value for each request sent within the last interval
}

func (q *quota) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	trace := llm.TraceOf(ctx)
	served := trace.Queued()
	select {
	case q.sent <- struct{}{}:
		served()
	case <-ctx.Done():
		served()
		return llm.Reply{}, fmt.Errorf("waiting for the quota: %w", ctx.Err())
	case <-trace.Drain:
		served()
		return llm.Reply{}, llm.ErrDraining
	}
	time.AfterFunc(q.interval, func() {
		if <-q.sent; len(q.sent) < cap(q.sent) { // if a call waited, it has the place already
			trace.Idle()
		}
	})
	return llm.Send(ctx, q.LLM, req)
}

func (q *quota) Announces() bool { return true } // by llm.Send
func (q *quota) Unwrap() llm.LLM { return q.LLM }

// Example_queue shows a queue of your own in place of Limit.
func Example_queue() {
	const interval = 50 * time.Millisecond
	model := llm.Retry(&quota{llm.Func(shout), interval, make(chan struct{}, 2)}, llm.RetryConfig{})
	announced, begin := 0, time.Now()
	ctx := llm.WithTrace(context.Background(), &llm.Trace{Send: func(string) error { announced++; return nil }})
	for i := range uint32(5) {
		if _, err := model.Generate(ctx, say("hello", i)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(announced, "requests announced; two intervals passed:", time.Since(begin) >= 2*interval)

	drain := make(chan struct{})
	close(drain)
	ctx = llm.WithTrace(ctx, &llm.Trace{Drain: drain})
	_, err := (&quota{llm.Func(shout), interval, nil}).Generate(ctx, say("hello", 5))
	fmt.Println(err)
	// Output:
	// 5 requests announced; two intervals passed: true
	// not sent: the run is ending
}
