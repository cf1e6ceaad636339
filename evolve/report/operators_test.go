package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// What each operator's children cost, and each kind of call beside them, adds up to all that the arm cost.
func TestTokensByOperator(t *testing.T) {
	used := func(prompt, completion int) []llm.Attempt {
		return []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: prompt, CompletionTokens: completion}}}
	}
	late := append([]llm.Attempt{{Status: llm.Timeout, Streamed: 3}}, used(10, 2)...)
	child := func(operator string, score float64, valid bool, attempts []llm.Attempt) evolve.Child {
		return evolve.Child{Operator: operator, Attempts: attempts,
			Candidate: eval.Candidate{Program: "p", Result: eval.Result{Valid: valid, Score: score}}}
	}
	start := eval.Candidate{Result: eval.Result{Valid: true, Score: 5}}
	arm := evolve.ArmResult{Start: start, Asides: []evolve.Call{{Kind: "evaluation", Attempts: used(1, 1)}},
		Generations: []evolve.Generation{{
			Before: start,
			Children: []evolve.Child{child("", 6, true, used(10, 1)), child("cross", 5, true, late),
				child("cross", 9, true, used(20, 1)),
				child("cross", 0, false, []llm.Attempt{{Status: llm.Timeout}}), child("merge", 7, true, nil)},
			Asides: []evolve.Call{{Kind: "judge", Attempts: used(40, 4)}, {Kind: "judge", Attempts: used(2, 2)},
				{Kind: "insights", Attempts: []llm.Attempt{{Status: llm.Failed}}}},
		}}}
	for i := range arm.Generations[0].Children {
		arm.Generations[0].Children[i].Index = i
	}
	got := report.NewGreedy(&evolve.Result{Arms: []evolve.ArmResult{arm}}, report.Header{N: 5}, 1)
	want := map[string]result.Operator{
		"rewrite": {Children: 1, Calls: 1, Valid: 1, Improved: 1, Tokens: history.Tokens{Prompt: 10, Completion: 1}},
		"cross":   {Children: 3, Calls: 2, Valid: 2, Improved: 1, Tokens: history.Tokens{Prompt: 30, Completion: 6}},
		"merge":   {Children: 1, Valid: 1, Improved: 1},
	}
	if diff := cmp.Diff(want, got.Operators); diff != "" {
		t.Errorf("operators (-want +got):\n%s", diff)
	}
	uses := map[string]result.Use{
		"evaluation": {Calls: 1, Tokens: history.Tokens{Prompt: 1, Completion: 1}},
		"judge":      {Calls: 2, Tokens: history.Tokens{Prompt: 42, Completion: 6}},
		"insights":   {},
	}
	if diff := cmp.Diff(uses, got.Uses); diff != "" {
		t.Errorf("asides (-want +got):\n%s", diff)
	}
	var parts, all history.Tokens
	for _, o := range got.Operators {
		parts.Prompt, parts.Completion = parts.Prompt+o.Tokens.Prompt, parts.Completion+o.Tokens.Completion
	}
	for _, u := range got.Uses {
		parts.Prompt, parts.Completion = parts.Prompt+u.Tokens.Prompt, parts.Completion+u.Tokens.Completion
	}
	for _, c := range got.Tokens {
		all.Prompt, all.Completion = all.Prompt+c.Prompt, all.Completion+c.Completion
	}
	if parts != all {
		t.Errorf("the parts have %+v, all is %+v", parts, all)
	}
	arm.Generations[0].Children = arm.Generations[0].Children[:1]
	if plain := report.NewGreedy(&evolve.Result{Arms: []evolve.ArmResult{arm}}, report.Header{N: 5},
		1); plain.Operators != nil {
		t.Errorf("a search without named operators has %v", plain.Operators)
	}
}
