package peers_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// hill is a task in which a program of two numbers scores higher the nearer they are to 3 and 7.
func hill() task.Task {
	t, err := task.New(task.Spec{Name: "hill", Language: "json", Initial: "[0.5, 0.5]",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			var x, y float64
			if _, err := fmt.Sscanf(program, "[%g, %g]", &x, &y); err != nil {
				return eval.Invalid("not two numbers: %v", err), nil
			}
			return eval.Result{Valid: true, Score: -(x-3)*(x-3) - (y-7)*(y-7)}, nil
		})})
	if err != nil {
		log.Fatal(err)
	}
	return t
}

// A search as another system has it is one value.
func ExampleNamed() {
	model, err := offline.New(peers.Offline().Config())
	if err != nil {
		log.Fatal(err)
	}
	peer, err := peers.Named("shinka")
	if err != nil {
		log.Fatal(err)
	}
	p, err := peer.Arm(peers.Setting{Task: hill(), LLM: llm.Limit(model, 4), N: 8, Seed: 40}, nil)
	if err != nil {
		log.Fatal(err)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Calls: 64}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	fmt.Println(res.Calls, res.Best.Better(res.Arms[0].Start))
	_, err = peers.Named("alphaevolve")
	fmt.Println(err)
	// Output:
	// Population(hill, N=8, seed=40, Islands(Elites(40, island 0), Elites(40, island 1)), Weighted(10), diff beside others, full beside others, cross beside others, repair, Shares([0.6 0.3 0.1 0.6]), islands by Random(), Unlike(0.99 by shingles of 5), at temperatures [0 0.5 1])
	// 64 true
	// peers: unknown search "alphaevolve": it is one of softmax, greedy, openevolve, shinka, gepa, adaevolve, beam, best-of-n, top-k, llm-evo, evoprompt-ga, evoprompt-de, dgm
}

// Peers can be the arms of one run, which finds out which to go on with.
func ExamplePeers() {
	model, err := offline.New(peers.Offline().Config())
	if err != nil {
		log.Fatal(err)
	}
	var arms []evolve.Arm
	for i, peer := range peers.Peers() {
		p, err := peer.Arm(peers.Setting{Task: hill(), LLM: llm.Limit(model, 4), N: 4, Seed: 40 + uint32(i)}, nil)
		if err != nil {
			log.Fatal(err)
		}
		arms = append(arms, p)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: &bandit.SuccessiveHalving{T: 60},
		Budget: evolve.Budget{Rounds: 60}})
	if err != nil {
		log.Fatal(err)
	}
	pulls := map[string]int{}
	for i, arm := range res.Arms {
		pulls[peers.Names()[i]] = len(arm.Generations)
	}
	fmt.Println(pulls)
	// Output: map[adaevolve:1 beam:6 best-of-n:1 dgm:3 evoprompt-de:6 evoprompt-ga:1 gepa:20 greedy:13 llm-evo:3 openevolve:3 shinka:1 softmax:1 top-k:1]
}
