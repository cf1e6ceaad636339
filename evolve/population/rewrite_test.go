package population_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/text"
)

// clerk is a prompt of two parts. The score is how many capital letters the target has of it.
func clerk() *text.Task {
	t, err := text.New(text.Config{
		Name: "clerk", Parts: []text.Part{{Name: "role", Text: "a clerk"}, {Name: "rules", Text: "be brief"}},
		Target: llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			return ok(req.Messages[0].Content), nil
		}),
		Train: []text.Case{{ID: "t", Input: "1"}}, Validation: []text.Case{{ID: "v", Input: "2"}},
		HeldOut: []text.Case{{ID: "h", Input: "3"}},
		Score:   func(_ text.Case, reply string) (float64, string) { return float64(strings.Count(reply, "X")), "" },
	})
	if err != nil {
		panic(err)
	}
	return t
}

// Each child of a prompt changes the next part of it.
func ExampleRewrite_inTurn() {
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		asked := req.Messages[len(req.Messages)-1].Content
		_, part, _ := strings.Cut(asked, "to change is \"")
		part, _, _ = strings.Cut(part, "\"")
		return ok("```\nX " + part + "\n```"), nil
	})
	p, err := population.New(population.Config{Task: clerk(), LLM: model, N: 1,
		Operators: []population.Operator{population.Rewrite{Label: "in turn", InTurn: true}}})
	if err != nil {
		panic(err)
	}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Rounds: 2}})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Best.Program)
	fmt.Println(result.Best.Result.Score, result.Arms[0].Generations[1].Children[0].Operator)
	// Output:
	// --- part: role ---
	// X role
	// --- part: rules ---
	// X rules
	// 2 in turn
}

// In a task without parts it is a rewrite.
func TestInTurnWithoutParts(t *testing.T) {
	cfg := population.Config{Task: numbers(t, "0"), LLM: climber, N: 4, Seed: 40}
	plain := run(t, newPopulation(t, cfg), 32)
	cfg.Operators = []population.Operator{population.Rewrite{Label: "in turn", InTurn: true}}
	turns := run(t, newPopulation(t, cfg), 32)
	if plain.Best.Program != turns.Best.Program || plain.Calls != turns.Calls {
		t.Errorf("it finds %q in %d calls, and a rewrite %q in %d", turns.Best.Program, turns.Calls, plain.Best.Program,
			plain.Calls)
	}
}

// A parent's children take turns.
func TestInTurnGoesRound(t *testing.T) {
	var parts []string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		for _, name := range []string{"role", "rules"} {
			if strings.Contains(req.Messages[len(req.Messages)-1].Content, fmt.Sprintf("to change is %q", name)) {
				parts = append(parts, name)
			}
		}
		return ok(fmt.Sprintf("```\nno better %d\n```", len(parts))), nil
	})
	p := newPopulation(t, population.Config{Task: clerk(), LLM: model, N: 1,
		Operators: []population.Operator{population.Rewrite{Label: "in turn", InTurn: true}}})
	if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p},
		Budget: evolve.Budget{Rounds: 4}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(parts, " "); got != "role rules role rules" {
		t.Errorf("the parts are %s", got)
	}
}
