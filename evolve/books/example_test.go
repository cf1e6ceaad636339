package books_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func search(model llm.LLM) []evolve.Arm {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: runtest.Sum(task.Spec{}, 100), LLM: llm.Limit(model, 1), N: 4,
		Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	return []evolve.Arm{g}
}

// An observer is told what the run has spent and set aside at each event.
func ExampleLedger() {
	observer := func(e evolve.Event) {
		if e.Kind == evolve.EventGeneration {
			var ledger books.Ledger = e.Ledger
			fmt.Println(ledger.Spent.Calls, "of", ledger.Limit.Calls, "calls")
		}
	}
	_, err := evolve.Run(context.Background(),
		evolve.Config{Arms: search(runtest.Adder), Budget: evolve.Budget{Calls: 12}, Observer: observer})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 4 of 12 calls
	// 8 of 12 calls
	// 12 of 12 calls
}

// Calls that a run gave up are made again, and what they cost stands beside the result.
func ExampleEarlier() {
	dir, err := os.MkdirTemp("", "books")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var result *evolve.Result
	for process := range 2 {
		j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
		if err != nil {
			log.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if process == 0 {
				stop() // Ctrl-C
				<-ctx.Done()
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 1000}}}, ctx.Err()
			}
			return runtest.Adder(ctx, req)
		})
		result, err = evolve.Run(ctx, evolve.Config{Arms: search(model), Budget: evolve.Budget{Rounds: 2}, Journal: j})
		if err := errors.Join(err, j.Close()); err != nil {
			log.Fatal(err)
		}
	}
	var earlier books.Earlier = result.Earlier
	for _, call := range earlier.Abandoned { // in no generation of the result
		fmt.Println("given up:", call[0].Status)
	}
	fmt.Println("lost:", len(earlier.Lost), "not asked for again:", len(earlier.Unclaimed))
	// Output:
	// given up: canceled
	// lost: 0 not asked for again: 0
}
