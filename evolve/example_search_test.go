package evolve_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// chain is a search of one's own: a generation is a single child of the last one, better or not. The Breeder
// asks, scores and keeps the best; what is left to say is which child is made of what.
type chain struct {
	evolve.Breeder
	last int // steps
	now  evolve.Child
}

var _ evolve.Starter = (*chain)(nil)

func (c *chain) Done() bool { return c.Breeder.Done() || c.Steps() == c.last }

func (c *chain) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return c.Breed(ctx, turn, 1, c.brief, c.take)
}

func (c *chain) brief(int) evolve.Brief {
	if !c.now.HasProgram() {
		c.now = c.Initial()
	}
	return evolve.Brief{Seed: uint32(c.Steps())}.Of(c.now)
}

func (c *chain) take(child evolve.Child) {
	if child.Scored() {
		c.now = child
	}
}

func ExampleArm() {
	own := &chain{Breeder: evolve.Breeder{Task: sum(), LLM: adder}, last: 12}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{own},
		Budget: evolve.Budget{Calls: 100}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Stop, result.Calls, result.Best.Result.Score)
	// Output: exhausted 12 -46
}

// A Brief has its parents' programs, to be shown to the model, and their IDs, for the record.
func ExampleBrief_Of() {
	a := evolve.Child{ID: 3, Candidate: eval.Candidate{Program: "1 2 9"}}
	b := evolve.Child{ID: 5, Candidate: eval.Candidate{Program: "1 2 3 8"}}
	brief := evolve.Brief{Operator: "crossover"}.Of(a, b)
	fmt.Println(brief.Operator, brief.From, brief.Parents[0].Program, "and", brief.Parents[1].Program)
	// Output: crossover [3 5] 1 2 9 and 1 2 3 8
}

// What is left out has a default, what is wrong is told before anything is paid for.
func ExampleNewGreedy() {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: adder, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g, g.Calls() == evolve.DefaultN, g.Seed())
	_, err = evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: adder, N: evolve.MaxN + 1})
	fmt.Println(err)
	// Output:
	// Greedy(sum, N=64, seed=40, neutral) true 40
	// evolve: GreedyConfig.N is 100001: a generation needs at least 1 child, and at most 100000
}

// Where the budget has room for fewer calls than a search would make, the last step makes these.
func ExampleSizer() {
	var arm evolve.Sizer = search(8)
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{arm},
		Budget: evolve.Budget{Calls: 12}})
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range result.Arms[0].Generations {
		fmt.Println(len(g.Children), "of", arm.Calls())
	}
	// Output:
	// 8 of 8
	// 4 of 8
}

// search is a greedy search of n children to a generation.
func search(n int) *evolve.Greedy {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: adder, N: n, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	return g
}

func ExampleGeneration() {
	g, err := search(4).Step(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	attempts := 0
	for call := range g.EachCall {
		attempts += len(call)
	}
	fmt.Printf("generation %d: from %v to %v with %d attempts\n", g.Index, g.Before.Result.Score, g.Best.Result.Score,
		attempts)
	// Output: generation 1: from -94 to -87 with 4 attempts
}

func ExampleChild() {
	g, err := search(4).Step(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range g.Children {
		fmt.Printf("child %d: %q scores %v, better: %v\n", c.Index, c.Program, c.Result.Score, c.Better(g.Before))
	}
	// Output:
	// child 0: "1 2 3 7" scores -87, better: true
	// child 1: "1 2 3 3" scores -91, better: true
	// child 2: "1 2 3 7" scores -87, better: true
	// child 3: "1 2 3 6" scores -88, better: true
}
