package population_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// Greedy search is what is left when everything is left out.
func ExampleNew() {
	p, err := population.New(population.Config{Task: sum(), LLM: adder, N: 8, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Calls: 64}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p, res.Best.Result.Score)
	// Output: Population(sum, N=8, seed=40, Drift, Best, rewrite) -26
}

// operators counts the children by what made them.
func operators(res *evolve.Result) map[string]int {
	n := map[string]int{}
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			n[c.Operator]++
		}
	}
	return n
}

// Selectors draw from a stream that is given to them, so that a child is the same whenever it is made again.
func ExampleSelector() {
	from := []population.Member{member(1, "a", 4), member(2, "b", 3), member(3, "c", 2), member(4, "d", 1)}
	for _, by := range []population.Selector{population.Best(), population.Uniform(), population.Weighted(10)} {
		r, counts := rand.New(rand.NewPCG(1, 2)), [5]int{}
		for range 1000 {
			counts[from[by.Select(from, r)].ID]++
		}
		fmt.Println(by, counts[1:])
	}
	// Output:
	// Best [1000 0 0 0]
	// Uniform [252 248 219 281]
	// Weighted(10) [486 511 3 0]
}

// A program that is too like another one is refused.
func ExampleUnlike() {
	gate := &population.Unlike{Most: 0.5, Shingle: 2}
	v := &population.View{Task: script(), Taken: 1}
	take(gate, member(12, "let total = 0; for (const x of list) total += x; return total", 1))
	for _, program := range []string{"let total = 1; for (const x of list) total += x; return total",
		"return list.reduce((a, b) => a + b, 0)"} {
		why, err := gate.Admit(context.Background(), v, program)
		fmt.Printf("%q %v\n", why, err)
	}
	// Output:
	// "it is 0.789 like program 12, and may be 0.5 like one" <nil>
	// "" <nil>
}

// A few cases come first: numbers are to be small as well. The parent is compared on the same.
func ExampleScreen() {
	small := eval.Scored(lengths{}, "main", func(out json.RawMessage) eval.Result {
		return eval.Result{Valid: true, Score: -float64(len(out))}
	})
	gate := population.Screen{On: func(*population.View) eval.Evaluator { return small }}
	v := &population.View{Task: sum(), Parent: member(1, "1 2 3", 0)}
	for _, program := range []string{"1 2", "1 2 3 4"} {
		why, err := gate.Admit(context.Background(), v, program)
		fmt.Printf("%q %v\n", why, err)
	}
	// Output:
	// "" <nil>
	// "on the cases that come first it scores -7, and its parent -5" <nil>
}

// Attempts show what was tried last and what it gained.
func ExampleAttempts() {
	var prompts []string
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		prompts = append(prompts, req.Messages[1].Content)
		return adder(ctx, req)
	})
	p, err := population.New(population.Config{Task: sum(), LLM: model, N: 3, Window: 1,
		Memory: []population.Memory{&population.Attempts{Most: 2}}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := p.Step(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(prompts[2])
	// Output:
	// Current program, with score -92.000000 (higher is better):
	//
	// ```text
	// 1 2 3 2 0
	// ```
	//
	// Earlier attempts, and what became of them:
	//
	// > better: "1 2 3" became "1 2 3 2"; score -92, +2 over its parent
	// > as good: "1 2 3 2" became "1 2 3 2 0"; score -92, +0 over its parent
	//
	// Rewrite the program to raise its score.
	// Reply with one complete program in one fenced block tagged text.
}
