package evolve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Programs without the lines of the markers, as many models write them, are evaluated with the parent's markers, and
// each child says so.
func TestMarkersLeftOut(t *testing.T) {
	const initial = "import math\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\nprint(x)\n"
	of, err := task.New(task.Spec{Name: "marked", Language: "python", Initial: initial,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			before, rest, _ := strings.Cut(program, "# EVOLVE-BLOCK-START\n")
			_, after, found := strings.Cut(rest, "\n# EVOLVE-BLOCK-END\n")
			if !found || before != "import math\n" || after != "print(x)\n" {
				return eval.Invalid("not between the markers: %q", program), nil
			}
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	const calls = 24
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return ok(fmt.Sprintf("```python\nimport math\n\nx = %d\n\nprint(x)\n```", 2+req.Seed), req.Seed), nil
	})
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: of, LLM: model, N: 8})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: calls}})
	if err != nil {
		t.Fatal(err)
	}
	valid, mended := 0, 0
	for _, g := range r.Arms[0].Generations {
		for _, c := range g.Children {
			if c.Result.Valid {
				valid++
			}
			if c.Mended == "the EVOLVE-BLOCK markers" {
				mended++
			}
		}
	}
	if valid != calls || mended != calls {
		t.Errorf("%d children are valid and %d say that markers were put back, want %d", valid, mended, calls)
	}
}
