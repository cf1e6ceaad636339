package presets_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/presets"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// hill is a task in which a program of two numbers scores higher the nearer they are to 3 and 7.
func hill() task.Task {
	t, err := task.New(task.Spec{Name: "hill", Language: "json", Initial: "[0.5, 0.5]",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			var x, y float64
			if _, err := fmt.Sscanf(program, "[%g, %g]", &x, &y); err != nil {
				return eval.Invalid("not two numbers: %v", err), nil
			}
			return eval.Result{Valid: true, Score: -(x-3)*(x-3) - (y-7)*(y-7)}, nil
		})})
	if err != nil {
		log.Fatal(err)
	}
	return t
}

// Another system's search is one value, and several can be the arms of one run.
func ExampleShinka() {
	model, err := offline.New(offline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	var arms []evolve.Arm
	for i, preset := range []func(population.Config) population.Config{presets.Shinka, presets.EvoPromptDE} {
		p, err := population.New(preset(population.Config{Task: hill(), LLM: llm.Limit(model, 4), N: 8, Seed: 40 + uint32(i)}))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p)
		arms = append(arms, p)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: bandit.Random{},
		Budget: evolve.Budget{Calls: 128}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Calls, res.Best.Better(res.Arms[0].Start))
	// Output:
	// Population(hill, N=8, seed=40, Islands(Elites(40, island 0), Elites(40, island 1)), Weighted(10), diff beside others, full beside others, cross beside others, repair, Shares([0.6 0.3 0.1 0.6]), islands by Random(), Unlike(0.99 by shingles of 5), at temperatures [0 0.5 1])
	// Population(hill, N=8, seed=41, Heirs(10), Uniform, difference beside the best, paraphrase, Shares([1 0]))
	// 128 true
}
