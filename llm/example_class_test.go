package llm_test

import (
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

func ExamplePrice() {
	price := llm.Price{Prompt: 0.5, Cached: 0.05, Completion: 1.5} // dollars per million tokens
	fmt.Printf("%.6f\n", price.Cost(llm.Usage{PromptTokens: 2000, CachedTokens: 1000, CompletionTokens: 800}))
	// Output: 0.001750
}
