package evolve_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// sum is a task whose programs are lists of numbers, scored by minus the distance of their sum to 100.
func sum() task.Task { return runtest.Sum(task.Spec{}, 100) }

// adder adds a number to the program that it is shown, and metered tells its usage, by which tiny is charged.
var (
	adder   = runtest.Adder
	metered = runtest.Metered
	tiny    = runtest.Tiny
)

func ExampleRun() {
	ctx := context.Background()
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: llm.Limit(adder, 4), N: 4, Seed: 40}, 3)
	if err != nil {
		log.Fatal(err)
	}
	result, err := evolve.Run(ctx, evolve.Config{
		Arms:   arms,
		Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 100},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Stop, result.Limit, result.Calls, result.Best.Result.Score)
	// Output: budget Calls 100 -1
}

func ExampleGreedy() {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: adder, N: 8, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		gen, err := g.Step(context.Background(), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("generation %d: %d children, best %v\n", gen.Index, len(gen.Children), gen.Best.Result.Score)
	}
	// Output:
	// generation 1: 8 children, best -85
	// generation 2: 8 children, best -76
	// generation 3: 8 children, best -67
}

// Limits of what calls cost. Nothing is sent that might pass them, so a little is left.
func ExampleBudget_costs() {
	priced := tiny
	priced.MaxTokens = 200
	priced.Price = &llm.Price{Prompt: 1, Cached: 0.1, Completion: 4} // a million tokens
	models := []llm.Model{priced}
	for _, budget := range []evolve.Budget{
		{Tokens: 10_000, Models: models},
		{Money: 0.01, Models: models},
		{FLOPs: 1e7, Models: models}, // timeouts charged in full
	} {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: metered, N: 1, Seed: 40})
		if err != nil {
			log.Fatal(err)
		}
		result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{g}, Budget: budget})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Stop, result.Limit, "after", result.Calls, "calls")
	}
	// Output:
	// budget Tokens after 27 calls
	// budget Money after 10 calls
	// budget FLOPs after 22 calls
}

func ExampleBudget() {
	target := -5.0
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: adder, N: 8, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	result, err := evolve.Run(context.Background(), evolve.Config{
		Arms:   []evolve.Arm{g},
		Budget: evolve.Budget{Calls: 1000, Target: &target},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Stop, result.Best.Result.Score)
	// Output: target -1
}
