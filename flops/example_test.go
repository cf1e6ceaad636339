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

// Generations charged one by one, under bounded by the median of the whole run: the parts sum to the whole.
func ExampleSumWith() {
	long := llm.Attempt{Status: llm.OK, FinishReason: "length", Usage: &llm.Usage{CompletionTokens: 1000}}
	late := llm.Attempt{Status: llm.Timeout, MaxTokens: 4000}
	generations := [][]llm.Attempt{{long, late}, {late, late}}
	run := slices.Concat(generations...)
	median := flops.MedianLength(slices.Values(run))
	fmt.Println("median of those that ended for length:", median)
	for i, g := range generations {
		part := flops.SumWith(slices.Values(g), 1000, flops.Bounded, median)
		fmt.Printf("generation %d: %.0f FLOPs, %d timeouts\n", i+1, part.TotalFLOPs, part.Timeout)
	}
	fmt.Printf("run: %.0f FLOPs\n", flops.Sum(slices.Values(run), 1000, flops.Bounded).TotalFLOPs)
	// Output:
	// median of those that ended for length: 1000
	// generation 1: 4000000 FLOPs, 1 timeouts
	// generation 2: 4000000 FLOPs, 2 timeouts
	// run: 8000000 FLOPs
}

func ExampleAttempt() {
	a := llm.Attempt{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 100, CachedTokens: 90, CompletionTokens: 10}}
	cost, metered := flops.Attempt(a, 8_190_726_144)
	fmt.Printf("%.0f %v\n", cost, metered)
	// Output: 327629045760 true
}
