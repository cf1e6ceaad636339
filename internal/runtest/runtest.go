// Package runtest has what tests of runs share: tasks and models to make runs of (lists of numbers that must add up,
// and numbers that score what they are), scripts that say what is decided, and what a saved page shows.
package runtest

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Sum returns a task whose programs are lists of numbers, scored by goal minus the distance of their sum to goal. spec
// may name its parts; what it leaves empty is filled. Sum panics if spec is not valid.
func Sum(spec task.Spec, goal float64) task.Task {
	spec.Name = cmp.Or(spec.Name, "sum")
	spec.System = cmp.Or(spec.System, fmt.Sprintf("Numbers that add up to %v.", goal))
	spec.Initial = cmp.Or(spec.Initial, "1 2 3")
	spec.Evaluator = eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		total := 0.0
		for _, f := range strings.Fields(program) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return eval.Invalid("not a number: %q", f), nil
			}
			total += v
		}
		return eval.Result{Valid: true, Score: goal - max(total, 2*goal-total)}, nil
	})
	t, err := task.New(spec)
	if err != nil {
		panic(err)
	}
	return t
}

// Number returns a task whose programs are numbers and score what they are. spec may name its parts; what it leaves
// empty is filled. Number panics if spec is not valid.
func Number(spec task.Spec) task.Task {
	spec.Name = cmp.Or(spec.Name, "number")
	spec.Language = cmp.Or(spec.Language, "text")
	spec.Initial = cmp.Or(spec.Initial, "0")
	spec.Evaluator = eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
		if err != nil {
			return eval.Invalid("not a number"), nil
		}
		return eval.Result{Score: v, Valid: true}, nil
	})
	t, err := task.New(spec)
	if err != nil {
		panic(err)
	}
	return t
}

// Adder is a model that appends a digit, the last of the seed, to the program that it is shown.
var Adder = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "")
	if err != nil {
		return llm.Reply{}, err
	}
	text := fmt.Sprintf("```\n%s %d\n```", strings.TrimSpace(program), req.Seed%10)
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
})

// Metered is Adder with usage. The first attempt of one call in five times out.
var Metered = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := Adder(ctx, req)
	reply.Attempts = []llm.Attempt{{Status: llm.OK, FinishReason: "stop", Endpoint: "http://a/v1",
		Usage: &llm.Usage{PromptTokens: 100, CachedTokens: 64, CompletionTokens: 10}}}
	if req.Seed%5 == 0 {
		late := llm.Attempt{Status: llm.Timeout, MaxTokens: 1000, Endpoint: "http://a/v1"}
		reply.Attempts = append([]llm.Attempt{late}, reply.Attempts...)
	}
	return reply, err
})

// Tiny is the model that Metered is charged as.
var Tiny = llm.Model{Key: "tiny", Name: "example/Tiny", ActiveParams: 1000}
