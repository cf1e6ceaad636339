package advise_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/advise"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// points is a task whose programs are four numbers, each best at 1.
func points() task.Task {
	t, err := task.New(task.Spec{
		Name: "points", System: "Four numbers near 1.", Initial: "0 0 0 0",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			var x [4]float64
			if n, err := fmt.Sscan(program, &x[0], &x[1], &x[2], &x[3]); n < 4 {
				return eval.Invalid("not four numbers: %v", err), nil
			}
			off := 0.0
			for _, v := range x {
				off += math.Abs(v - 1)
			}
			return eval.Result{Valid: true, Score: 1 / (1 + off)}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	return t
}

// mover is a model that moves one of the numbers at random.
var mover = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "")
	if err != nil {
		return llm.Reply{}, err
	}
	r := rand.New(rand.NewPCG(uint64(req.Seed), 0))
	x := strings.Fields(program)
	i, v := r.IntN(len(x)), 0.0
	if _, err := fmt.Sscan(x[i], &v); err != nil {
		return llm.Reply{}, err
	}
	x[i] = fmt.Sprintf("%.3f", v+0.2*r.NormFloat64())
	return llm.Reply{Text: "```\n" + strings.Join(x, " ") + "\n```", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
})

// A budget of 1,000 calls, of which a tenth is the pilot's. With Config.Journal the run can be killed and resumed.
func Example() {
	const calls = 1000
	arms, err := advise.Arms(evolve.GreedyConfig{Task: points(), LLM: mover, Seed: 40}, advise.Breadths(calls, 0))
	if err != nil {
		log.Fatal(err)
	}
	policy := &advise.Policy{Calls: calls}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: policy, Budget: evolve.Budget{Calls: calls}})
	if err != nil {
		log.Fatal(err)
	}
	advice, _ := policy.Advice()
	fmt.Println(advice)
	fmt.Printf("best %.2f after %d calls\n", result.Best.Result.Score, result.Calls)
	// Output:
	// arm 1, T=237 N=4, by a surface fitted to 13 cells
	// best 1.00 after 1000 calls
}

// What can be tried: fewer breadths with fewer calls.
func ExampleBreadths() {
	for _, calls := range []int{256, 1024, 4096, 65536} {
		fmt.Println(calls, advise.Breadths(calls, 0.1))
	}
	// Output:
	// 256 [1]
	// 1024 [1 4]
	// 4096 [1 4 16]
	// 65536 [1 4 16 64]
}

// The searches of the pilot, with seeds of their own.
func ExampleArms() {
	arms, err := advise.Arms(evolve.GreedyConfig{Task: points(), LLM: mover, Seed: 40}, []int{1, 4, 16})
	fmt.Println(err)
	for _, a := range arms {
		fmt.Println(a)
	}
	// Output:
	// <nil>
	// Greedy(points, N=1, seed=40)
	// Greedy(points, N=4, seed=41)
	// Greedy(points, N=16, seed=42)
}

// The policy by hand. Eight calls of each arm are the pilot's. Here a pull brings the same however many calls it
// makes, so the rest is the narrow search's.
func ExamplePolicy() {
	p := &advise.Policy{Calls: 64, Share: 0.25}
	player, pulls := bandit.NewPlayer(p, 2, 1), []int{0, 0}
	for left := p.Calls; left > 0; {
		pull, err := player.DrawSized([]bool{true, true}, []int{1, 4})
		if err != nil {
			log.Fatal(err)
		}
		left -= pull.Calls
		pulls[pull.Arm]++
		if err := player.Report(pull.ID, 1-1/float64(1+pulls[pull.Arm])); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(p)
	fmt.Println(pulls)
	// Output:
	// Advise(C=64, share=0.25, ceiling=unknown)
	// [56 2]
}

// Without differences between scores there is nothing to fit, and the advice says so.
func ExampleAdvice() {
	p := &advise.Policy{Calls: 64, Share: 0.25}
	for range 8 {
		p.Update(bandit.Pull{Arm: 0, Arms: 2, Calls: 1}, 0.5)
		p.Update(bandit.Pull{Arm: 1, Arms: 2, Calls: 4}, 0.5)
	}
	advice, over := p.Advice()
	fmt.Println(advice, over)
	// Output:
	// arm 0, T=56 N=1, the best so far: all scores of the pilot are the same true
}
