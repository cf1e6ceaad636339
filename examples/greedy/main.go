// Greedy evolves a packing of 26 circles in the unit square with one greedy search: each generation rewrites the best
// program so far. Without arguments the model is a stand-in that needs no network; "greedy qwen3-8b" asks the endpoint in
// $LLM_API_BASE.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

func main() {
	stand := must(offline.New(offline.Config{}))
	var model llm.LLM = stand
	spec := stand.Spec()
	if len(os.Args) > 1 {
		for _, m := range llm.Models() {
			if m.Key == os.Args[1] {
				spec = m
			}
		}
		model = llm.Retry(must(openai.New(openai.Config{Model: spec})), llm.RetryConfig{})
	}
	runner := must(js.New(js.Config{})) // runs programs, with limits
	circles := must(geometry.CirclePacking().Task(runner, "javascript"))
	search := must(evolve.NewGreedy(evolve.GreedyConfig{
		Task: task.WithEvaluator(circles, eval.Limit(circles, runtime.NumCPU())),
		LLM:  llm.Limit(model, 16), // calls in flight
		N:    16,                   // children in a generation
		Seed: 40,
	}))

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // what was found until then is shown
	defer stop()
	result := must(evolve.Run(ctx, evolve.Config{
		Arms: []evolve.Arm{search}, Budget: evolve.Budget{Calls: 512},
		Observer: func(e evolve.Event) {
			if g := e.Generation; e.Kind == evolve.EventGeneration && g.Best.Better(g.Before) {
				fmt.Printf("generation %d: %.6f\n", g.Index, g.Best.Result.Score)
			}
		},
	}))
	fmt.Printf("\n%s\n%s\n", eval.Printable(report.Summary(result, spec)), eval.Printable(result.Best.Program))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
