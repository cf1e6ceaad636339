package report_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

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

func ExampleBandit_arms() {
	r := report.NewBandit(reported())
	for _, arm := range r.ArmResults { // in the names of a greedy search's file
		fmt.Println(arm.Seed, arm.FinalFitness, arm.PerGen)
	}
	// Output:
	// 2041713265 -79 [2.368e+06 4.368e+06]
	// 908178384 -79 [6.368e+06 4.368e+06]
}

func ExampleGreedy_setting() {
	budget := single()
	fmt.Println(budget.Task, budget.ModelName, budget.C, budget.T, budget.N)
	arm := report.NewBandit(reported()).ArmResults[0] // what the bandit gave it
	fmt.Println(arm.Task, arm.ModelName, arm.C, arm.T, arm.N)
	// Output:
	// sum example/Tiny 8 2 4
	// sum example/Tiny 8 2 4
}

func ExampleSearch() {
	s := single().Search
	fmt.Println(s.Seed, s.FinalFitness, len(s.Trajectory), s.Calls[llm.Real])
	// Output: 40 -86 3 8
}

func ExampleSearch_trajectory() {
	for _, row := range single().Trajectory { // row 0 is the initial program
		fmt.Println(row.Generation, row.BestFitness, row.Count, row.Valid, row.Improved)
	}
	// Output:
	// 0 -94 0 1 0
	// 1 -87 4 4 4
	// 2 -86 4 4 1
}

func ExampleSearch_children() {
	for c := range single().Trajectory[1].Children.All() {
		fmt.Println(c.Index, c.Seed, *c.Fitness, c.Valid, len(c.Attempts), c.FinalStatus)
	}
	// Output:
	// 0 3101221277 -87 true 1 ok
	// 1 4161601853 -91 true 1 ok
	// 2 1760521447 -87 true 1 ok
	// 3 1410398016 -88 true 1 ok
}

func ExampleSearch_again() {
	children := single().Trajectory[1].Children
	late := 0
	for c := range children.All() { // made one at a time
		if len(c.Attempts) > 1 {
			late++
		}
	}
	fmt.Println(late, "of", children.Len(), "were asked for again")
	// Output: 0 of 4 were asked for again
}

func ExampleSearch_attempts() {
	for c := range single().Trajectory[2].Children.All() {
		for _, a := range c.Attempts {
			if a.TimedOut {
				fmt.Println(a.Index, a.Status, *a.EstimatedOutput)
			}
		}
	}
	// Output:
	// 0 timeout 1000
	// 0 timeout 1000
	// 0 timeout 1000
}

func ExampleSearch_usage() {
	children := slices.Collect(single().Trajectory[1].Children.All())
	u := children[1].Attempts[0].Usage
	fmt.Println(u.Prompt, u.Details.Cached, u.Completion, u.Total)
	// Output: 100 64 10 110
}

func ExampleCost() {
	r := single().FLOPs
	for _, s := range r.Summaries() {
		fmt.Printf("%-10s %.0f FLOPs, %.0f of them for timeouts\n", s.Rule, s.TotalFLOPs, s.TimeoutFLOPs)
	}
	// Output:
	// worst_case 6736000 FLOPs, 6000000 of them for timeouts
	// exclude    736000 FLOPs, 0 of them for timeouts
	// bounded    736000 FLOPs, 0 of them for timeouts
	// observed   736000 FLOPs, 0 of them for timeouts
}

func ExampleCounts() {
	r := report.NewBandit(reported()).Counts
	for _, class := range llm.Classes() {
		fmt.Println(class, r.Calls[class], "calls,", r.Attempts[class], "attempts")
	}
	// Output:
	// real 16 calls, 16 attempts
	// stall 0 calls, 8 attempts
	// error 0 calls, 0 attempts
	// canceled 0 calls, 0 attempts
}

func ExampleTokens() {
	t := report.NewBandit(reported()).Tokens[llm.Real]
	fmt.Println(t.Prompt, t.Cached, t.Completion)
	// Output: 1600 1024 160
}

func ExampleEndpoint() {
	for url, e := range report.NewBandit(reported()).Endpoints {
		fmt.Printf("%s: %d of %d attempts stalled\n", url, e.Stalls, e.Attempts)
	}
	// Output: http://a/v1: 8 of 24 attempts stalled
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

// Calls are counted without a report too, here while a run goes on.
func ExampleCount() {
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: metered, N: 4, Seed: 40}, 2)
	if err != nil {
		log.Fatal(err)
	}
	_, err = evolve.Run(context.Background(), evolve.Config{
		Arms: arms, Policy: bandit.Random{}, Budget: evolve.Budget{Rounds: 2},
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration {
				counts := report.Count(e.Generation.EachCall)
				fmt.Println(counts.Calls[llm.Real], "calls", counts.Attempts[llm.Stall], "stalls")
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 4 calls 1 stalls
	// 4 calls 2 stalls
}

func ExampleSave() {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sum", "result.json")
	if err := report.CheckWritable(path); err != nil { // before anything is paid for
		log.Fatal(err)
	}
	if err := report.Save(path, single()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(path))
	// Output: result.json
}

func ExampleSaveFile() {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "best.txt")
	if err := report.SaveFile(path, []byte("50 50")); err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile(path)
	fmt.Println(string(data), err)
	// Output: 50 50 <nil>
}

func ExampleCheckWritable() {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fmt.Println(report.CheckWritable(filepath.Join(dir, "results", "run.json")))
	fmt.Println(report.CheckWritable(dir) != nil) // it is a folder
	// Output:
	// <nil>
	// true
}
