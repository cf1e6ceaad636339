package llm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

// meter is an LLM whose usage of a prompt of so many bytes is what it says.
type meter func(bytes int) (tokens int)

func (m meter) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	u := &llm.Usage{PromptTokens: m(len(req.Messages[0].Content)), CompletionTokens: 1}
	return llm.Reply{Text: "ok", Attempts: []llm.Attempt{{Status: llm.OK, Usage: u, Endpoint: "http://a/v1"}}}, nil
}

func TestCutPromptsAreSaidOnce(t *testing.T) {
	prompts := []int{3000, 6000, 8800, 9000, 12000, 20000, 40000}
	for reason, c := range map[string]struct {
		usage meter
		first string // what is said of the prompt of so many tokens and bytes, if anything
	}{
		"a tokenizer that is good at code": {func(n int) int { return n / 5 }, ""},
		"one that is bad at numbers":       {func(n int) int { return n }, ""},
		"more than half is cut":            {func(n int) int { return min(n/4, 1024) }, "1024 tokens where 8800 bytes"},
		"a quarter is cut":                 {func(n int) int { return min(n/4, 2200) }, "2200 tokens where 12000 bytes"},
		"any prompt counts the same":       {func(n int) int { return 100 }, "100 tokens where 3000 bytes"},
	} {
		var said []string
		m := llm.Retry(c.usage, llm.RetryConfig{Notice: func(text string) { said = append(said, text) }})
		for _, n := range prompts {
			req := llm.Request{Messages: []llm.Message{{Content: strings.Repeat("x", n)}}}
			if _, err := m.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.Join(said, "\n")
		if c.first == "" && got != "" || !strings.Contains(got, c.first) || len(said) > 1 {
			t.Errorf("%s: said %q, want one of %q", reason, said, c.first)
		}
	}
}
