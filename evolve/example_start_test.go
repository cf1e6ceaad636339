package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// Where the initial program is invalid, every rewrite is likely to be, for the same reason. With ValidStart
// the budget is not spent on that.
func ExampleErrInvalidStart() {
	broken, err := task.New(task.Spec{
		Name: "broken", System: "A list of numbers.", Initial: "1 2",
		Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
			return eval.Invalid("the ruler is lost"), nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: broken, LLM: adder, N: 4}, 2)
	if err != nil {
		log.Fatal(err)
	}
	cfg := evolve.Config{Arms: arms[:1], Budget: evolve.Budget{Calls: 8}, ValidStart: true}
	result, err := evolve.Run(context.Background(), cfg)
	fmt.Println(errors.Is(err, evolve.ErrInvalidStart), result.Calls, err)

	cfg.Arms, cfg.ValidStart = arms[1:], false
	result, err = evolve.Run(context.Background(), cfg)
	fmt.Println(result.Stop, result.Calls, err)
	// Output:
	// true 0 evolve: an arm begins with an invalid program: arm 0: the ruler is lost
	// budget 8 <nil>
}
