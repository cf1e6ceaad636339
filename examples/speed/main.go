// Speed makes a NumPy function faster. Its score is its speed beside that of the first function, in standard
// deviations of copies of that one. "speed qwen3-8b" asks the endpoint in $LLM_API_BASE; without arguments a
// stand-in changes how many blocks the array is worked on in. It needs Linux and Python with NumPy, and takes about
// half a minute.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/eval/timing"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
)

const (
	system = `Write a Python program that defines f(x, out) for NumPy arrays of float64. f puts exp(sin x + cos² x) into out for
every number of x, to a relative error of 1e-12, and leaves x as it is. The faster it is, the better. Use only NumPy.`

	initial = `import numpy as np

BLOCKS = 3000

def f(x, out):
    for part, to in zip(np.array_split(x, BLOCKS), np.array_split(out, BLOCKS)):
        np.exp(np.sin(part) + np.square(np.cos(part)), out=to)
`
)

// numbers draws what a timed call is given.
func numbers(r *rand.Rand) []byte {
	xs := make([]float64, 300_000)
	for i := range xs {
		xs[i] = 20*r.Float64() - 10
	}
	return timing.Floats(xs)
}

func main() {
	ctx := context.Background()
	var model llm.LLM = must(offline.New(offline.Config{}))
	if len(os.Args) > 1 {
		model = llm.Retry(must(openai.New(openai.Config{Model: llm.Model{Name: os.Args[1]}})), llm.RetryConfig{})
	}
	interpreter := must(python.Find(ctx, "numpy"))
	machine := must(timing.NewMachine(timing.MachineConfig{})) // times one program at a time
	timed := must(machine.Evaluator(ctx, timing.Config{
		Build: timing.Python(interpreter, "f"), Baseline: initial, Input: numbers, Check: timing.Close(1e-12, 0),
		Bytes: 1 << 22,
	}))
	scale := must(eval.ZScore(ctx, timed, initial, 5))
	numpy := must(task.New(task.Spec{Name: "speed", Language: "python", System: system, Initial: initial,
		Evaluator: scale}))
	search := must(evolve.NewGreedy(evolve.GreedyConfig{Task: numpy, LLM: model, N: 4, Seed: 1}))
	result := must(evolve.Run(ctx, evolve.Config{
		Arms: []evolve.Arm{search}, Budget: evolve.Budget{Rounds: 4},
		Observer: func(e evolve.Event) {
			if r := e.Child.Result; e.Kind == evolve.EventChild && r.Valid {
				fmt.Printf("a child that is %.2f times as fast, z = %.1f\n", r.Metrics["speedup"], r.Score)
			}
		},
	}))
	fmt.Printf("the best, z = %.1f:\n%s\n", result.Best.Result.Score, eval.Printable(result.Best.Program))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
