package packing_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/packing"
)

// A task is scored on instances for training, and what a search found on others.
func ExampleProblem_Task() {
	ctx := context.Background()
	runner, err := js.New(js.Config{})
	if err != nil {
		panic(err)
	}
	t, err := packing.Weibull().Task(runner, "javascript")
	if err != nil {
		panic(err)
	}
	program := `function priority(item, room) {
  const left = room - item;
  return left < 3 || left > 20 ? 1 : 0; // leave no small gaps
}`
	train, err := t.Evaluate(ctx, program)
	if err != nil {
		panic(err)
	}
	test, _, err := task.HeldOut(ctx, t, program)
	if err != nil {
		panic(err)
	}
	fmt.Printf("train: %.2f %% over the bound, best fit %.2f %%\n", 100*train.Metrics["excess"],
		100*train.Metrics["best_fit_excess"])
	fmt.Printf("test:  %.2f %% over the bound, best fit %.2f %%\n", 100*test.Metrics["excess"],
		100*test.Metrics["best_fit_excess"])
	// Output:
	// train: 2.13 % over the bound, best fit 4.01 %
	// test:  1.89 % over the bound, best fit 4.08 %
}
