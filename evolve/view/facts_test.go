package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"

	"github.com/evoalloc/evoalloc/llm"
)

// What a run was given is told in words: hashes are short and apart from names, and long numbers are grouped.
func TestFactsAreReadable(t *testing.T) {
	digest := strings.Repeat("e527", 16)
	l := newLog("1", "run")
	for _, r := range []record.Record{
		{Kind: record.Header, Fingerprint: journal.Fingerprint{"task": "cp, programs and prompt " + digest, "model": "a, b",
			"search": digest, "seeds": "40, " + digest[:16], "flops": "1000000000000000000",
			"breadth": "Adaptive(second=0, 1..8)", "offline": "{Broken:0 Splice:0.9}"}},
		{Kind: record.Completion, Key: "1",
			Reply: &llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK,
				Usage: &llm.Usage{PromptTokens: 956_000, CompletionTokens: 507}}}}},
	} {
		l.Add(r)
	}
	s := l.State(rowCursor{})
	for _, want := range []Fact{
		{Name: "Task", Value: "cp", Note: "programs and prompt e527e527e527"},
		{Name: "Model", Value: "a, b"},
		{Name: "Search", Value: "e527e527e527"},
		{Name: "flops", Value: "1000000000000000000", Setting: true},
		{Name: "seeds", Value: "40, e527e527e527", Setting: true},
		{Name: "breadth", Value: "Adaptive: second 0, 1 to 8", Setting: true},
		{Name: "offline", Value: "Broken 0 Splice 0.9", Setting: true},
		{Name: "Tokens", Value: "956,507", Note: "956,507 answered"},
	} {
		if diff := cmp.Diff(want, fact(t, s, want.Name)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
