package evolve_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

func ExampleConfig() {
	result, err := evolve.Run(context.Background(), evolve.Config{
		Arms:   []evolve.Arm{search(4), search(6)},
		Policy: bandit.Normalize(bandit.Random{}, 0, 10),
		Budget: evolve.Budget{Rounds: 10},
		Seed:   1,
		Reward: func(g evolve.Generation) float64 { // what the generation gained, not where it came to
			return g.Best.Result.Score - g.Before.Result.Score
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(result.Rounds), result.Rounds[0].Reward)
	// Output: 10 7
}

// Three arms advance at once, and share the places of one limit on model calls. After Ctrl-C, the calls that
// are under way have ten seconds to finish.
func ExampleConfig_inFlight() {
	limited := llm.Limit(adder, 8)
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: limited, N: 4, Seed: 40}, 5)
	if err != nil {
		log.Fatal(err)
	}
	result, err := evolve.Run(context.Background(), evolve.Config{
		Arms:     arms,
		Policy:   bandit.Normalize(&bandit.GaussianThompson{}, -100, 0),
		Budget:   evolve.Budget{Calls: 80},
		InFlight: 3,
		Grace:    10 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Stop, result.Calls)
	// Output: budget 80
}

func ExampleEvent() {
	_, err := evolve.Run(context.Background(), evolve.Config{
		Arms:   []evolve.Arm{search(4)},
		Budget: evolve.Budget{Rounds: 2},
		Observer: func(e evolve.Event) {
			switch e.Kind {
			case evolve.EventGeneration:
				fmt.Println("generation", e.Generation.Index, "of arm", e.Pull.Arm, "best", e.Best.Result.Score)
			case evolve.EventStop:
				fmt.Println("over:", e.Stop)
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// generation 1 of arm 0 best -87
	// generation 2 of arm 0 best -86
	// over: budget
}

func ExampleEventKind() {
	_, err := evolve.Run(context.Background(), evolve.Config{
		Arms:     []evolve.Arm{search(2)},
		Budget:   evolve.Budget{Rounds: 2},
		Observer: func(e evolve.Event) { fmt.Print(e.Kind, " ") },
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: draw child child generation draw child child generation stop
}

func ExampleRound() {
	result, err := evolve.Run(context.Background(), evolve.Config{
		Arms:   []evolve.Arm{search(4), search(8)},
		Policy: bandit.Normalize(&bandit.UCB1{}, -100, 0),
		Budget: evolve.Budget{Rounds: 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range result.Rounds {
		g := result.Arms[r.Pull.Arm].Generations[r.Generation]
		fmt.Printf("arm %d with chance %v: %d children, reward %v\n", r.Pull.Arm, r.Pull.Prob, len(g.Children), r.Reward)
	}
	// Output:
	// arm 0 with chance 1: 4 children, reward -87
	// arm 1 with chance 1: 8 children, reward -85
	// arm 1 with chance 1: 8 children, reward -76
}

// Whatever ends a run first is what it says.
func ExampleStop() {
	target := -80.0
	for _, budget := range []evolve.Budget{
		{Rounds: 3},
		{Rounds: 100, Target: &target},
		{Rounds: 100, RoundsPerArm: 2},
		{Rounds: 100, Patience: 5},
	} {
		result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{search(4)}, Budget: budget})
		if err != nil {
			log.Fatal(err)
		}
		switch best := result.Best.Result.Score; result.Stop {
		case evolve.StopBudget:
			fmt.Println("out of", result.Limit, "with", best)
		case evolve.StopTarget:
			fmt.Println("good enough:", best)
		case evolve.StopExhausted:
			fmt.Println("every arm had its rounds:", best)
		}
	}
	// Output:
	// out of Rounds with -79
	// good enough: -79
	// every arm had its rounds: -86
	// out of Patience with 0
}

func ExampleArmResult() {
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{search(4)},
		Budget: evolve.Budget{Calls: 10}})
	if err != nil {
		log.Fatal(err)
	}
	for _, arm := range result.Arms {
		last := arm.Generations[len(arm.Generations)-1]
		fmt.Println(arm.Start.Result.Score, arm.Best.Result.Score, len(arm.Generations), "the last with", len(last.Children))
	}
	// Output: -94 -79 3 the last with 2
}
