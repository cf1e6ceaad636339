package tune_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A search whose only operator tunes numbers. In a run it needs a Budget.TuneEvaluations.
func ExampleTuner() {
	blocks := eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		_, size, _ := strings.Cut(strings.TrimSpace(program), " = ")
		n, err := strconv.Atoi(size)
		if err != nil {
			return eval.Invalid("no integer: %q", size), nil
		}
		return eval.Result{Valid: true, Score: -math.Abs(math.Log2(float64(n) / 64))}, nil // 64 is best
	})
	t, err := task.New(task.Spec{Name: "blocks", Language: "go", Initial: "const block = 3000", Evaluator: blocks})
	if err != nil {
		panic(err)
	}
	search, err := population.New(population.Config{Task: t, LLM: llm.Func(nil), N: 1,
		Operators: []population.Operator{&tune.Tuner{}}})
	if err != nil {
		panic(err)
	}
	gen, err := search.Step(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(gen.Best.Program)
	// Output: const block = 64
}
