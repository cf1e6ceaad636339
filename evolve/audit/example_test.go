package audit_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/audit"
)

// A search whose evaluator is too kind to some programs, and the second one that says so.
func ExampleNew() {
	tk := pairs(nil, flattered())
	greedy, err := evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 4, Seed: 1})
	if err != nil {
		panic(err)
	}
	arm, err := audit.New(greedy, audit.Config{By: honest(), Demote: true})
	if err != nil {
		panic(err)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 5}})
	if err != nil {
		panic(err)
	}
	for _, g := range res.Arms[0].Generations {
		for _, a := range g.Audits {
			fmt.Printf("generation %d: %.3f, audited %.3f, demoted: %v\n", g.Index, a.Result.Score, a.Second.Score, a.Demoted)
		}
	}
	// Output:
	// generation 1: 0.000, audited 0.000, demoted: false
	// generation 2: 0.738, audited -0.042, demoted: true
	// generation 3: 0.429, audited 0.115, demoted: false
	// generation 5: 0.870, audited 0.185, demoted: false
}
