package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// twice makes a run of two rounds that is stopped while its third call is under way, and goes on with it.
func twice() *evolve.Result {
	path, remove := scratch()
	defer remove()
	var result *evolve.Result
	for life := range 2 {
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		asked := 0
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if asked++; life == 0 && asked == 3 {
				stop() // Ctrl-C
				<-ctx.Done()
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 1000}}}, ctx.Err()
			}
			return metered(ctx, req)
		})
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: llm.Limit(model, 1), N: 2, Seed: 40})
		if err != nil {
			log.Fatal(err)
		}
		result, err = evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 2}, Journal: j})
		stop()
		if err := errors.Join(err, j.Close()); err != nil {
			log.Fatal(err)
		}
	}
	return result
}

func ExampleResult() {
	r := twice()
	fmt.Println(r.Stop, r.Limit, r.Calls, len(r.Rounds), r.Best.Result.Score, r.Behind)
	// Output: budget Rounds 4 2 -84 false
}

func ExamplePanicError() {
	_, err := evolve.Run(context.Background(), evolve.Config{
		Arms: []evolve.Arm{search(4)}, Policy: bandit.Random{}, Budget: evolve.Budget{Rounds: 1},
		Reward: func(g evolve.Generation) float64 { return g.Children[4].Result.Score }, // there are 4
	})
	var p *evolve.PanicError
	fmt.Println(err)
	fmt.Println(errors.As(err, &p), len(p.Stack) > 0)
	// Output:
	// evolve: Config.Reward panicked: runtime error: index out of range [4] with length 4
	// true true
}
