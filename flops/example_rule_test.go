package flops_test

import (
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

func ExampleRule() {
	attempts := []llm.Attempt{
		{Status: llm.OK, FinishReason: "length", Usage: &llm.Usage{CompletionTokens: 900}},
		{Status: llm.Timeout, MaxTokens: 1000, Streamed: 30},
	}
	for _, rule := range flops.Rules() { // what the timeout is charged, for a model of one parameter
		fmt.Println(rule, flops.Sum(slices.Values(attempts), 1, rule).TimeoutFLOPs/2, "tokens")
	}
	// Output:
	// worst_case 1000 tokens
	// exclude 0 tokens
	// bounded 900 tokens
	// observed 30 tokens
}
