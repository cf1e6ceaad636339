package llm_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
)

func ExampleClass() {
	for _, s := range []llm.Status{llm.OK, llm.Timeout, llm.Stalled, llm.Failed, llm.Canceled} {
		fmt.Println(s, "counts as", s.Class())
	}
	// Output:
	// ok counts as real
	// timeout counts as stall
	// stalled counts as stall
	// error counts as error
	// canceled counts as canceled
}

func ExampleWithSend() {
	one := llm.Limit(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		fmt.Println("sent")
		return llm.Reply{}, nil
	}), 1)
	fmt.Println("announces:", llm.Announces(one))
	ctx := llm.WithSend(context.Background(), func() error {
		fmt.Println("about to be sent")
		return nil
	})
	if _, err := one.Generate(ctx, llm.Request{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// announces: true
	// about to be sent
	// sent
}

func ExamplePrice() {
	price := llm.Price{Prompt: 0.5, Cached: 0.05, Completion: 1.5} // dollars per million tokens
	fmt.Printf("%.6f\n", price.Cost(llm.Usage{PromptTokens: 2000, CachedTokens: 1000, CompletionTokens: 800}))
	// Output: 0.001750
}
