// Gofunc makes a Go function faster: whether it is right is decided by a test and by a comparison with the first
// one, and how good it is by its speed beside that one. "gofunc qwen3-8b" asks the endpoint in $LLM_API_BASE;
// without arguments a stand-in changes the function's numbers. It takes about half a minute.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/timing"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task/gofunc"
)

// The function, what calls it when it is timed, and its test.
var (
	//go:embed sort.go.txt
	initial string
	//go:embed driver.go.txt
	driver string
	//go:embed sort_test.go.txt
	test string
)

// numbers draws what is sorted in a timed call.
func numbers(r *rand.Rand) []byte {
	xs := make([]int, 20_000)
	for i := range xs {
		xs[i] = r.Int() - r.Int()
	}
	return timing.Ints(xs)
}

func main() {
	ctx := context.Background()
	var model llm.LLM = must(offline.New(offline.Config{}))
	if len(os.Args) > 1 {
		model = llm.Retry(must(openai.New(openai.Config{Model: llm.Model{Name: os.Args[1]}})), llm.RetryConfig{})
	}
	folder := must(os.MkdirTemp("", "gofunc-"))
	defer os.RemoveAll(folder)
	sorting := must(gofunc.New(ctx, gofunc.Config{
		Name: "sorting", Initial: initial, Driver: driver, Test: test, Folder: folder, Feedback: 2000,
		System: "Write a Go file of package sorting with a function Sort(xs []int) that sorts xs in place, as fast as it " +
			"can.",
		// Programs are timed one at a time, in processes that cannot reach the clock.
		Machine: must(timing.NewMachine(timing.MachineConfig{})),
		Timing:  timing.Config{Input: numbers, Bytes: 1 << 20},
		Build:   5 * time.Minute,
	}))
	search := must(evolve.NewGreedy(evolve.GreedyConfig{Task: sorting, LLM: model, N: 6, Seed: 1}))
	result := must(evolve.Run(ctx, evolve.Config{
		Arms: []evolve.Arm{search}, Budget: evolve.Budget{Rounds: 2},
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventChild && e.Child.Result.Valid {
				fmt.Printf("a child with the first function's speed times %.2f\n", e.Child.Result.Score)
			}
		},
	}))
	fmt.Printf("the best has the first function's speed times %.2f:\n%s\n", result.Best.Result.Score,
		eval.Printable(result.Best.Program))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
