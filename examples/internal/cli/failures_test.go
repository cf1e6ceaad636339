package cli

import (
	"log"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// The first failure of each kind is printed, with the endpoint's words and in the words of flags, and no other.
func TestFirstFailureOfEachKind(t *testing.T) {
	faults := []llmtest.Fault{"", "429", "429", "html 200", "503", "500"}
	srv := llmtest.NewServer(llmtest.Config{Fault: func(r llmtest.Request) llmtest.Fault { return faults[r.Seed] }})
	defer srv.Close()
	model, err := Endpoints(srv.URL, 4, func(base string) (llm.LLM, error) {
		return openai.New(openai.Config{Seed: true, BaseURL: base, Model: llm.Models()[0]})
	})
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	was := log.Writer()
	defer log.SetOutput(was)
	log.SetOutput(&printed)
	for seed := range faults {
		model.Generate(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "a"}}, Seed: uint32(seed)})
	}
	lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3: %q", len(lines), lines)
	}
	for i, want := range [][]string{{"rate_limit", "Rate limit reached", "fewer calls in flight"},
		{"broken_reply", "HTML", "--api-base"}, {"server", "503", "log of the endpoint"}} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d is %q, want %q in it", i, lines[i], part)
			}
		}
	}
}
