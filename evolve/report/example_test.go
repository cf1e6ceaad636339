package report_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// sum is a task whose programs are lists of numbers, scored by minus the distance of their sum to 100.
func sum() task.Task { return runtest.Sum(task.Spec{}, 100) }

// metered adds a number to the program that it is shown and tells its usage, by which tiny is charged.
var (
	metered = runtest.Metered
	tiny    = runtest.Tiny
)

// reported returns the result of two searches with 4 children each, over 4 rounds.
func reported() (*evolve.Result, report.BanditHeader) {
	ctx := context.Background()
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: metered, N: 4, Seed: 40}, 2)
	if err != nil {
		log.Fatal(err)
	}
	policy := bandit.Normalize(&bandit.UCB1{}, -100, 0)
	result, err := evolve.Run(ctx, evolve.Config{Arms: arms, Policy: policy, Budget: evolve.Budget{Calls: 16}})
	if err != nil {
		log.Fatal(err)
	}
	return result, report.BanditHeader{
		Header: report.Header{Task: "sum", Model: tiny, T: 4, N: 4},
		Algo:   "ucb", Policy: fmt.Sprint(policy), ArmSeeds: []uint32{evolve.ArmSeed(40, 0), evolve.ArmSeed(40, 1)},
	}
}

func ExampleBandit() {
	r := report.NewBandit(reported())
	fmt.Println(r.Path())
	fmt.Println(r.Selections, r.RunningBest, r.FinalFitness, r.BestArmSeed)
	// Output:
	// bandit/sum/tiny/ucb_C16_T4_K2_seed0.json
	// [0 1 0 1] [-85 -85 -79 -79] -79 2041713265
}

func ExampleBanditHeader() {
	result, h := reported()
	fmt.Println(h.Task, h.Model.Name, h.Algo, h.ArmSeeds, h.T*h.N)
	fmt.Println(h.Path() == report.NewBandit(result, h).Path())
	// Output:
	// sum example/Tiny ucb [2041713265 908178384] 16
	// true
}

// single is the report of one search.
func single() report.Greedy {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: metered, N: 4, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 8}})
	if err != nil {
		log.Fatal(err)
	}
	return report.NewGreedy(result, report.Header{Task: "sum", Model: tiny, T: 2, N: 4}, 40)
}

func ExampleGreedy() {
	r := single()
	fmt.Println(r.Path(), r.Stop, r.FinalFitness)
	// Output: sum/tiny/greedy_C8_T2_N4_seed40.json budget -86
}

func ExampleHeader() {
	h := report.Header{Task: "sum", Model: tiny, T: 8, N: 64}
	fmt.Println(h.GreedyPath(40)) // known before the run, to see whether it can be written
	// Output: sum/tiny/greedy_C512_T8_N64_seed40.json
}

// The calls of the result are not all that a run cost which was stopped and resumed.
func ExampleGreedy_lives() {
	result := &evolve.Result{
		Arms: []evolve.ArmResult{{Generations: []evolve.Generation{{Children: []evolve.Child{
			{Attempts: []llm.Attempt{{Status: llm.OK}}}, {Attempts: []llm.Attempt{{Status: llm.OK}}},
		}}}}},
		Earlier: books.Earlier{
			Abandoned: [][]llm.Attempt{{{Status: llm.Canceled}}}, // abandoned at Ctrl-C
			Lost:      []llm.Attempt{{Status: llm.Canceled}},     // under way at a kill
		},
	}
	r := report.NewGreedy(result, report.Header{Task: "sum", Model: tiny, T: 1, N: 2}, 40)
	fmt.Println("of the result: ", r.Calls[llm.Real], "answered,", r.Calls[llm.Abandoned], "abandoned")
	fmt.Println("of the run:    ", r.Total.Calls[llm.Real], "answered,", r.Total.Calls[llm.Abandoned], "abandoned")
	fmt.Println("of which lost: ", r.Total.Lost)
	// Output:
	// of the result:  2 answered, 0 abandoned
	// of the run:     2 answered, 2 abandoned
	// of which lost:  1
}
