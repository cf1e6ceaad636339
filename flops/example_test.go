package flops_test

import (
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

func ExampleSum() {
	attempts := []llm.Attempt{
		{Status: llm.Timeout, MaxTokens: 16000},
		{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 1200, CachedTokens: 1000, CompletionTokens: 800}},
	}
	for _, rule := range flops.Rules() {
		s := flops.Sum(slices.Values(attempts), 8_190_726_144, rule)
		fmt.Printf("%-10s %.3e FLOPs, %.3e of them for timeouts\n", rule, s.TotalFLOPs, s.TimeoutFLOPs)
	}
	// Output:
	// worst_case 2.785e+14 FLOPs, 2.621e+14 of them for timeouts
	// exclude    1.638e+13 FLOPs, 0.000e+00 of them for timeouts
	// bounded    1.638e+13 FLOPs, 0.000e+00 of them for timeouts
	// observed   1.638e+13 FLOPs, 0.000e+00 of them for timeouts
}

func ExampleAttempt() {
	a := llm.Attempt{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 100, CachedTokens: 90, CompletionTokens: 10}}
	cost, metered := flops.Attempt(a, 8_190_726_144)
	fmt.Printf("%.0f %v\n", cost, metered)
	// Output: 327629045760 true
}
