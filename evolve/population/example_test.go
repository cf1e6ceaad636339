package population_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
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

// Shinka: weighted parents on two islands, three kinds of patch in fixed shares, a gate against what is alike, and a
// scratchpad. Its ensemble of models would be Proposers. The best are shown last.
func ExampleConfig_shinka() {
	show := func(v *population.View) []task.Section {
		beside := append(v.Sample(v.Part.Members(), population.Uniform(), 1),
			v.Sample(v.Part.Members(), population.Best(), 1)...)
		return append(v.Sections, population.Inspirations(beside...))
	}
	res := search(population.Config{
		N: 8, Archive: &population.Islands{Of: []population.Archive{population.Top(20), population.Top(20)}},
		Select: population.Weighted(10),
		Operators: []population.Operator{
			population.Rewrite{Label: "diff", Form: task.AsDiff, Show: show},
			population.Rewrite{Label: "full", Instruction: "Write a different program.", Form: task.AsWhole, Show: show},
			population.Cross{},
		},
		Policy: bandit.Shares{0.6, 0.3, 0.1},
		Gates:  []population.Gate{&population.Unlike{Most: 0.99}},
		Memory: []population.Memory{&population.Scratchpad{Every: 10, Most: 5}},
	}, 64)
	fmt.Println(operators(res), "best", res.Best.Result.Score)
	// Output: map[cross:4 diff:39 full:16] best -63
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

// Islands breed by themselves. Every second child, the best of each is copied to the next.
func ExampleIslands() {
	s := &population.Islands{Of: []population.Archive{population.Top(3), population.Top(3)}, Every: 2}
	s.Add(member(0, "start", 0))
	s.AddTo(0, member(1, "here", 1))
	s.AddTo(1, member(2, "there", 2))
	for i, part := range s.Of {
		fmt.Println("island", i, ids(part.Members()))
	}
	// Output:
	// island 0 [2 1 0]
	// island 1 [2 1 0]
}

// Selectors draw from a stream that is given to them, so that a child is the same whenever it is made again.
func ExampleSelector() {
	from := []*population.Member{member(1, "a", 4), member(2, "b", 3), member(3, "c", 2), member(4, "d", 1)}
	for _, by := range []population.Selector{population.Best(), population.Uniform(), population.Weighted(10),
		population.Choice(0.2, population.Uniform(), population.Best())} {
		r, counts := rand.New(rand.NewPCG(1, 2)), [5]int{}
		for range 1000 {
			counts[by.Select(from, r).ID]++
		}
		fmt.Println(by, counts[1:])
	}
	// Output:
	// Best [1000 0 0 0]
	// Uniform [252 248 219 281]
	// Weighted(10) [486 511 3 0]
	// Choice(0.2: Uniform, else Best) [848 44 44 64]
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
