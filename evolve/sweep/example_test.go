package sweep_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// number is a task whose programs are numbers, and whose score is 1 for π and less the farther off.
func number() task.Task { return numberFrom("1") }

func numberFrom(initial string) task.Task {
	t, err := task.New(task.Spec{
		Name: "pi", Language: "text", Initial: initial,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			x, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
			if err != nil {
				return eval.Invalid("not a number: %v", err), nil
			}
			d := x - 3.14159
			return eval.Result{Valid: true, Score: 1 / (1 + d*d)}, nil
		}),
	})
	if err != nil {
		panic(err)
	}
	return t
}

// guess is a model that changes the number it is shown a little, by its seed.
func guess() sweep.Model {
	return sweep.Model{Spec: llm.Model{Key: "guess", ActiveParams: 1e9},
		LLM: llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			shown := req.Messages[len(req.Messages)-1].Content
			shown = shown[strings.LastIndex(shown, "```text\n")+len("```text\n"):]
			x, err := strconv.ParseFloat(strings.TrimSpace(shown[:strings.Index(shown, "```")]), 64)
			if err != nil {
				return llm.Reply{}, err
			}
			x += rand.New(rand.NewPCG(uint64(req.Seed), 1)).NormFloat64() / 10
			return llm.Reply{Text: fmt.Sprintf("```text\n%v\n```", x), Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
		})}
}

// How a budget of 64 calls is split between depth and breadth, and whether that is the same for 16.
func Example() {
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	plan := sweep.Plan{
		Tasks:   []task.Task{number()},
		Models:  []sweep.Model{guess()},
		Methods: sweep.Splits(16, 64), // greedy with 1, 2, 4, ... 64 children in a generation
		Budgets: []int{16, 64},
		Seeds:   []uint32{40, 41, 42, 43, 44},
	}
	cost, err := plan.Cost()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d cells of %d calls in %d runs of %d\n", cost.Cells, cost.Naive, cost.Runs, cost.Calls)

	result, err := plan.Run(context.Background(), sweep.Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	mean := map[[2]int]float64{}
	for _, s := range result.Scores {
		mean[[2]int{s.Calls(), s.N}] += s.Best / 5
	}
	for _, c := range plan.Budgets {
		for n := 1; n <= c; n *= 4 {
			fmt.Printf("C=%d T=%d N=%d: %.2f\n", c, c/n, n, mean[[2]int{c, n}])
		}
	}
	// Output:
	// 60 cells of 2640 calls in 35 runs of 2240
	// C=16 T=16 N=1: 0.30
	// C=16 T=4 N=4: 0.26
	// C=16 T=1 N=16: 0.20
	// C=64 T=64 N=1: 0.99
	// C=64 T=16 N=4: 0.86
	// C=64 T=4 N=16: 0.31
	// C=64 T=1 N=64: 0.22
}

// A grid costs little more than its largest budget.
func ExamplePlan_Cost() {
	budgets := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
	plan := sweep.Plan{Tasks: []task.Task{number()}, Models: []sweep.Model{guess()}, Methods: sweep.Splits(budgets...),
		Budgets: budgets}
	for seed := range uint32(10) {
		plan.Seeds = append(plan.Seeds, seed)
	}
	cost, err := plan.Cost()
	fmt.Println(cost.Calls, "calls in place of", cost.Naive, err)
	// Output: 51200 calls in place of 92170 <nil>
}

// What a sweep spends can be followed while it goes on.
func ExampleEvent() {
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	plan := sweep.Plan{
		Tasks: []task.Task{number()}, Models: []sweep.Model{guess()}, Methods: []sweep.Method{sweep.Greedy(8)},
		Budgets: []int{16}, Seeds: []uint32{40},
	}
	follow := sweep.Config{Dir: dir, Observer: func(e sweep.Event) {
		fmt.Printf("%s: %v, %d calls, best %.3f\n", e.Kind, e.Run, e.Calls, e.Best)
	}}
	for range 2 { // the second time the run is known
		if _, err := plan.Run(context.Background(), follow); err != nil {
			panic(err)
		}
	}
	// Output:
	// begin: pi/guess/greedy_C16_T2_N8_seed40, 0 calls, best 0.000
	// generation: pi/guess/greedy_C16_T2_N8_seed40, 8 calls, best 0.218
	// generation: pi/guess/greedy_C16_T2_N8_seed40, 16 calls, best 0.244
	// end: pi/guess/greedy_C16_T2_N8_seed40, 16 calls, best 0.244
	// known: pi/guess/greedy_C16_T2_N8_seed40, 16 calls, best 0.244
}

// Results can be looked at after each seed, and the sweep ends when they suffice.
func ExampleComparison() {
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	plan := sweep.Plan{
		Tasks: []task.Task{number()}, Models: []sweep.Model{guess()},
		Methods: []sweep.Method{sweep.Greedy(4), sweep.Greedy(32)}, Budgets: []int{32},
	}
	for seed := range uint32(1000) {
		plan.Seeds = append(plan.Seeds, seed)
	}
	result, err := plan.Run(context.Background(), sweep.Config{Dir: dir, AtOnce: 2, StopWhen: []sweep.Comparison{
		{A: sweep.Side{Method: "greedy", N: 4}, B: sweep.Side{Method: "greedy", N: 32}, Calls: 32},
	}})
	if err != nil {
		panic(err)
	}
	v := result.Verdicts[0]
	winner, decided := v.Winner()
	fmt.Println(decided, winner, "wins; pairs:", v.Pairs)
	// Output: true greedy:4 wins; pairs: 10
}

// A bandit over four searches, and a population, against greedy search with as many children in a generation.
func ExampleMethod() {
	elders := sweep.Method{Name: "elders", N: 8, New: func(s sweep.Setup) (sweep.Searches, error) {
		p, err := population.New(population.Config{Task: s.Task, LLM: s.LLM, N: s.N, Seed: s.Seed, Archive: population.Top(5),
			Select: population.Uniform()})
		return sweep.Searches{Arms: []evolve.Arm{p}}, err
	}}
	plan := sweep.Plan{
		Tasks: []task.Task{number()}, Models: []sweep.Model{guess()}, Budgets: []int{32, 64}, Seeds: []uint32{40},
		Methods: []sweep.Method{
			sweep.Greedy(8),
			sweep.Bandit("ucb", 8, 4, func(rounds, calls int) bandit.Policy { return &bandit.UCB1{} }),
			elders,
		},
	}
	for _, r := range plan.Runs() {
		fmt.Println(r, "has", len(r.Cells()))
	}
	// Output:
	// pi/guess/greedy_C64_T8_N8_seed40 has 2
	// bandit/pi/guess/ucb_C64_T8_K4_seed40 has 1
	// pi/guess/elders_C64_T8_N8_seed40 has 1
	// bandit/pi/guess/ucb_C32_T4_K4_seed40 has 1
	// pi/guess/elders_C32_T4_N8_seed40 has 1
}
