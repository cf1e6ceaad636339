package offline

import (
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// What is added to a prompt is what the request quotes, and nothing is changed within a line.
func TestProse(t *testing.T) {
	const prompt = "Add the numbers.\nBe quick."
	quoted := "> case 1:\n> input: Say 1 + 1.\n> reply: I do not know.\n> score: 0\n> feedback: Answer with digits.\n> Show no steps.\n"
	m := newModel(t, Config{Prose: 1, Broken: -1})
	added := map[string]bool{}
	for seed := range uint32(300) {
		req := llm.Request{Seed: seed, Messages: []llm.Message{{Role: llm.User,
			Content: task.Fence(prompt, "") + "\n\n" + quoted + "\nRewrite it."}}}
		text, err := task.ParseProgram(generate(t, m, req).Text, "")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if !slices.Contains([]string{"Add the numbers.", "Be quick.", "Answer with digits.", "Show no steps."}, line) {
				t.Fatalf("seed %d: it writes %q", seed, line)
			}
			added[line] = true
		}
	}
	if len(added) != 4 {
		t.Errorf("it writes %v, want every sentence of the prompt and of the feedback", added)
	}
}

// A program in a language is edited as it is without the ability.
func TestProseLeavesLanguagesAlone(t *testing.T) {
	with, without := newModel(t, Config{Prose: 1, Broken: -1}), newModel(t, Config{Broken: -1})
	for seed := range uint32(50) {
		if a, b := replied(t, with, request(seed, "", "js", "return 2 * x")),
			replied(t, without, request(seed, "", "js", "return 2 * x")); a != b {
			t.Fatalf("seed %d: %q and %q", seed, a, b)
		}
	}
}
