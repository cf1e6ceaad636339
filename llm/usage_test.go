package llm_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

func ExampleUsage_Clean() {
	lie := llm.Usage{PromptTokens: 100, CachedTokens: 150, CompletionTokens: -1}
	fmt.Printf("%+v\n", lie.Clean())
	// Output: {PromptTokens:100 CachedTokens:100 CompletionTokens:0}
}

func ExamplePromptTokens() {
	messages := []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "Why?"}}
	fmt.Println(llm.PromptTokens(llm.Request{Messages: messages}), "tokens at most")
	// Output: 109 tokens at most
}

func TestUsageClean(t *testing.T) {
	const most = 1 << 30
	for _, tt := range []struct {
		reason    string
		have, out llm.Usage
	}{
		{"what can be is left alone", llm.Usage{PromptTokens: 9, CachedTokens: 4, CompletionTokens: 7},
			llm.Usage{PromptTokens: 9, CachedTokens: 4, CompletionTokens: 7}},
		{"below nothing", llm.Usage{PromptTokens: -9, CachedTokens: -4, CompletionTokens: math.MinInt}, llm.Usage{}},
		{"more cached than there was", llm.Usage{PromptTokens: 9, CachedTokens: 10},
			llm.Usage{PromptTokens: 9, CachedTokens: 9}},
		{"beyond all bounds", llm.Usage{PromptTokens: math.MaxInt, CachedTokens: math.MaxInt, CompletionTokens: math.MaxInt},
			llm.Usage{PromptTokens: most, CachedTokens: most, CompletionTokens: most}},
	} {
		if got := tt.have.Clean(); got != tt.out || got.Clean() != got {
			t.Errorf("%s: %+v, want %+v", tt.reason, got, tt.out)
		}
	}
}

// Usage that lies costs no less than nothing.
func TestPriceBearsAnyUsage(t *testing.T) {
	price := &llm.Price{Prompt: 1, Cached: 2, Completion: 3}
	for _, u := range []llm.Usage{
		{PromptTokens: math.MaxInt, CachedTokens: math.MaxInt - 1, CompletionTokens: math.MaxInt},
		{PromptTokens: math.MinInt, CachedTokens: 5, CompletionTokens: -1},
	} {
		if cost := price.Cost(u); !(cost >= 0) || math.IsInf(cost, 0) {
			t.Errorf("%+v costs %v", u, cost)
		}
	}
}
