package llm_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
)

func ExampleTrace() {
	model := llm.Limit(llm.Func(shout), 1)
	ctx := llm.WithTrace(context.Background(), &llm.Trace{
		Queued: func() (served func()) {
			fmt.Println("waits for a place")
			return func() { fmt.Println("has one") }
		},
		Send:  func(string) error { fmt.Println("is about to be sent"); return nil },
		Ended: func(a []llm.Attempt) { fmt.Println("ended:", a[0].Status) },
		Idle:  func() { fmt.Println("the place is free") },
	})
	reply, err := model.Generate(ctx, say("hello", 1))
	fmt.Println(reply.Text, err)
	// Output:
	// waits for a place
	// has one
	// is about to be sent
	// ended: ok
	// the place is free
	// hello! <nil>
}

// A combinator of your own finds the functions of the trace, whether they are set or not.
func ExampleTraceOf() {
	sent := 0
	full := llm.WithTrace(context.Background(), &llm.Trace{Send: func(string) error {
		if sent++; sent > 1 {
			return fmt.Errorf("the disk is full")
		}
		return nil
	}})
	trace := llm.TraceOf(full)
	fmt.Println(trace.Send(""), trace.Send(""))
	// Output: <nil> the disk is full
}

// A task whose evaluator asks a model as a judge calls Ask, so that whoever evaluates sees the call.
func ExampleAsk() {
	judge := llm.Func(shout)
	seen := 0
	ctx := llm.WithTrace(context.Background(), &llm.Trace{
		Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
			seen++
			return l.Generate(ctx, req)
		},
	})
	reply, err := llm.Ask(ctx, judge, say("better", 1)) // what the evaluator does
	fmt.Println(reply.Text, err, seen)
	// Output: better! <nil> 1
}
