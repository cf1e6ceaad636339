package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// scratch makes a folder for an example, which remove takes away.
func scratch() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "evolve")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "run.journal"), func() { os.RemoveAll(dir) }
}

// An endpoint that hangs ends a run by its Stalls. Given a larger limit, the run goes on from its journal once
// the endpoint is well.
func ExampleBudget_raise() {
	path, remove := scratch()
	defer remove()
	for _, stalls := range []int{2, 20} {
		asked := 0
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if asked++; stalls == 2 && asked > 8 {
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled}}},
					&llm.Error{Status: llm.Stalled, Err: errors.New("silent")}
			}
			return adder(ctx, req)
		})
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: sum(), LLM: llm.Limit(model, 1), N: 4, Seed: 40})
		if err != nil {
			log.Fatal(err)
		}
		result, err := evolve.Run(context.Background(), evolve.Config{
			Arms: []evolve.Arm{g}, Journal: j, Budget: evolve.Budget{Calls: 40, Stalls: stalls},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s after %d calls, %d asked now\n", result.Limit, result.Calls, asked)
		j.Close()
	}
	// Output:
	// Stalls after 8 calls, 11 asked now
	// Calls after 40 calls, 32 asked now
}
