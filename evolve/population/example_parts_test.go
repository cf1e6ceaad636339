package population_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// The best stay; of equals the older.
func ExampleTop() {
	a := population.Top(2)
	for id, score := range []float64{1, 3, 3, 3} {
		fmt.Print(a.Add(member(id, "", score)), " ")
	}
	fmt.Println(ids(a.Members()))
	// Output: true true true false [1 2]
}

// One program stays, and gives way to one of the same score.
func ExampleDrift() {
	a := population.Drift()
	for id, score := range []float64{1, 3, 3, 2} {
		fmt.Print(a.Add(member(id, "", score)), " ")
	}
	fmt.Println(ids(a.Members()))
	// Output: true true true false [2]
}

// Fixed shares are the baseline for a bandit over operators.
func ExampleConfig_shares() {
	res := search(population.Config{N: 8, Operators: []population.Operator{population.Rewrite{}, population.Explore{}},
		Policy: bandit.Shares{0.9, 0.1}}, 80)
	fmt.Println(operators(res))
	// Output: map[explore:8 rewrite:72]
}

// The placebo of a cross: the same prompt, with the parent in place of the partner.
func ExampleCross() {
	for _, self := range []bool{false, true} {
		res := search(population.Config{N: 8, Archive: population.Top(8),
			Operators: []population.Operator{population.Rewrite{}, population.Cross{Self: self}},
			Policy:    bandit.Shares{0.7, 0.3}}, 80)
		fmt.Println("self", self, operators(res), "best", res.Best.Result.Score)
	}
	// Output:
	// self false map[cross:18 rewrite:62] best -15
	// self true map[cross:19 rewrite:61] best -15
}

// Invalid programs are mended with the reason why they are invalid.
func ExampleRepair() {
	mended := 0
	fixer := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if strings.Contains(req.Messages[1].Content, `which is invalid: not a number: "seven"`) {
			mended++
		}
		return adder(ctx, req)
	})
	p, err := population.New(population.Config{Task: sum(), LLM: fixer, N: 8, Window: 1, Seed: 2,
		Operators: []population.Operator{population.Rewrite{}, population.Repair{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 5 {
		if _, err := p.Step(context.Background(), nil); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(mended > 0, p.Best().Result.Valid)
	// Output: true true
}

// Two members that have changed different lines of their ancestor are merged, once.
func ExampleMerge() {
	tk, err := slots() // six lines with a number each
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := population.New(population.Config{Task: tk, LLM: editor, N: 40, Window: 1, Archive: population.Top(8),
		Select:    population.Uniform(),
		Operators: []population.Operator{population.Rewrite{}, &population.Merge{}}, OnChild: func(c evolve.Child) {
			if c.Operator == "merge" && len(c.Parents) == 2 && !c.Asked() && c.ID < 30 {
				fmt.Printf("%d of %v: %q\n", c.ID, c.Parents, c.Program)
			}
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := p.Step(context.Background(), nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 16 of [14 5]: "0\n0\n2\n0\n0\n-8"
	// 20 of [16 17]: "-4\n0\n2\n0\n0\n-8"
	// 23 of [5 17]: "-4\n0\n2\n0\n0\n-5"
	// 24 of [14 17]: "-4\n0\n0\n0\n0\n-8"
	// 26 of [25 24]: "-2\n0\n2\n0\n0\n-8"
}

// Notes are written by the model every few children. What it asks for that is an aside.
func ExampleScratchpad() {
	noting := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if strings.Contains(req.Messages[0].Content, "Note what is new") {
			return ok("- Large numbers help.\n"), nil
		}
		return adder(ctx, req)
	})
	p, err := population.New(population.Config{Task: sum(), LLM: noting, N: 8,
		Memory: []population.Memory{&population.Scratchpad{Every: 8}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := p.Step(context.Background(), nil)
	fmt.Println(len(gen.Children), err)
	// Output: 8 <nil>
}
