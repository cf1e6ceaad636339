package evolve_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// beam is a search that goes on from the last children that were better than their parent. All that is its own is
// which child is made of what; the rest is the Breeder's.
type beam struct {
	evolve.Breeder
	width  int
	elders []evolve.Child // newest first
}

func (b *beam) Calls() int { return b.width }

func (b *beam) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return b.Breed(ctx, turn, b.width, b.brief, b.take)
}

func (b *beam) brief(i int) evolve.Brief {
	if len(b.elders) == 0 {
		b.elders = []evolve.Child{{Candidate: b.Best()}} // the initial program, with the ID 0
	}
	of := b.elders[i%len(b.elders)]
	return evolve.Brief{
		Request: task.Request{Parents: []eval.Candidate{of.Candidate}},
		From:    []int{of.ID},
		Seed:    evolve.ChildSeed(1, b.width, b.Steps()-1, i),
	}
}

func (b *beam) take(c evolve.Child) {
	if c.Scored() && c.Better(b.elders[len(b.elders)-1].Candidate) {
		b.elders = append([]evolve.Child{c}, b.elders[:min(len(b.elders), b.width-1)]...)
	}
}

func ExampleBreeder() {
	own := &beam{Breeder: evolve.Breeder{Task: sum(), LLM: adder}, width: 3}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{own},
		Budget: evolve.Budget{Calls: 30}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Stop, result.Calls, result.Best.Result.Score)
	last := result.Arms[0].Generations[9].Children[2]
	fmt.Println("child", last.ID, "is of", last.Parents)
	// Output:
	// budget 30 -50
	// child 30 is of [23]
}

// Ways to make a child, and to refuse one.
func ExampleBrief() {
	b := &evolve.Breeder{Task: sum(), LLM: adder}
	halve := func(context.Context, *evolve.Work) (string, error) { return "25 25", nil }
	briefs := []evolve.Brief{
		{Request: task.Request{Parents: []eval.Candidate{{Program: "40 1"}}, Instruction: "Add a number."}, Seed: 8},
		{Messages: []llm.Message{{Role: llm.User, Content: "```\n50\n```"}}, Seed: 9, Operator: "from 50"},
		{Make: halve, Operator: "halve"}, // without a model
		{Messages: []llm.Message{{Role: llm.User, Content: "```\n60\n```"}}, Seed: 3,
			Parse: func(reply string) (string, error) {
				return strings.Trim(reply, "`\n") + " 20", nil
			}},
		{Make: halve, Admit: func(_ context.Context, program string) (why string, err error) {
			return "it was there before", nil
		}},
	}
	gen, err := b.Breed(context.Background(), nil, len(briefs), func(i int) evolve.Brief { return briefs[i] }, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range gen.Children {
		if c.Err != "" {
			fmt.Printf("%q refused: %s\n", c.Program, c.Err)
			continue
		}
		fmt.Printf("%q by %q, asked %v: %v\n", c.Program, c.Operator, c.Asked(), c.Result.Score)
	}
	// Output:
	// "40 1 8" by "", asked true: -51
	// "50 9" by "from 50", asked true: -41
	// "25 25" by "halve", asked false: -50
	// "60 3 20" by "", asked true: -17
	// "25 25" refused: it was there before
}

// The first child of three takes longest. By index the others wait for it, as they end they do not.
func ExampleOrder() {
	for _, order := range []evolve.Order{evolve.ByIndex, evolve.AsTheyEnd} {
		last := make(chan struct{})
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if req.Seed == 1 { // the first child's
				<-last // until the others have ended
			}
			return adder(ctx, req)
		})
		ended := 0
		b := &evolve.Breeder{Task: sum(), LLM: model, Window: 3, Order: order, OnChild: func(evolve.Child) {
			if ended++; ended == 2 {
				close(last)
			}
		}}
		fmt.Print(order, ":")
		_, err := b.Breed(context.Background(), nil, 3, func(i int) evolve.Brief {
			return evolve.Brief{Seed: uint32(i) + 1}.Of(b.Initial())
		}, func(c evolve.Child) {
			if c.Index == 0 {
				fmt.Print(" the first")
			} else {
				fmt.Print(" another")
			}
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println()
	}
	// Output:
	// ByIndex: the first another another
	// AsTheyEnd: another another the first
}

// critic asks for a critique after each step. It does not add that call to its generation.
type critic struct{ evolve.Arm }

func (c critic) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	gen, err := c.Arm.Step(ctx, turn)
	if err == nil {
		_, err = turn.Ask(ctx, "critique", metered, llm.Request{Messages: []llm.Message{{Role: llm.User,
			Content: gen.Best.Program}}})
	}
	return gen, err
}

// What a step asks through its turn is within the budget and in the result, whatever the search tells of it.
func ExampleTurn() {
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{critic{search(4)}},
		Budget: evolve.Budget{Calls: 15}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Calls, "calls")
	for _, g := range result.Arms[0].Generations {
		fmt.Println(len(g.Children), "children and", len(g.Asides), "call beside them")
	}
	// Output:
	// 15 calls
	// 4 children and 1 call beside them
	// 4 children and 1 call beside them
	// 4 children and 1 call beside them
}

// The attempts of calls beside the children are charged like all others.
func ExampleCall() {
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{critic{search(2)}},
		Budget: evolve.Budget{Rounds: 1}})
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range result.Arms[0].Generations[0].Asides {
		fmt.Println(call.Kind, llm.ClassOf(call.Attempts), "after", len(call.Attempts), "attempts")
	}
	// Output: critique real after 2 attempts
}

// Searches that are Starters are evaluated before the first draw, and so is one that is never drawn.
func ExampleStarter() {
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: adder, N: 4}, 2)
	if err != nil {
		log.Fatal(err)
	}
	_, starts := arms[1].(evolve.Starter)
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: bandit.Random{},
		Budget: evolve.Budget{Rounds: 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(starts)
	for _, a := range result.Arms {
		fmt.Println("began at", a.Start.Result.Score)
	}
	// Output:
	// true
	// began at -94
	// began at -94
}

// A steady-state search: one step of many children, few of which are under way at once. A better child is the
// parent of those that are briefed after it.
func ExampleGreedyConfig_window() {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: llm.Limit(adder, 4), N: 32, Window: 4, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	gen, err := g.Step(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g, "came to", gen.Best.Result.Score, "in", len(gen.Children), "calls")
	// Output: Greedy(sum, N=32, seed=40, neutral, window 4, ByIndex) came to -38 in 32 calls
}
