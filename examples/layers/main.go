// Layers approximates |x| by straight lines, and then by a router that says which line of a frozen pool to use where.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// newTask is to find rows of two numbers that score much at all x of -1, -0.8 ... 1, which are the cases.
func newTask(r eval.Runner, name, initial string, rows int, score func([][2]float64, int, float64) float64) task.Task {
	return must(task.New(task.Spec{Name: name, Language: "javascript", System: "Improve the numbers.", Initial: initial,
		Evaluator: eval.Scored(r, "solve", func(out json.RawMessage) eval.Result {
			var got [][2]float64
			if json.Unmarshal(out, &got) != nil || len(got) != rows {
				return eval.Invalid("need %d pairs of numbers", rows)
			}
			result := eval.Result{Valid: true}
			for i := range 11 {
				result.Cases = append(result.Cases, score(got, i, float64(i)/5-1))
				result.Score += result.Cases[i] / 11
			}
			return result
		})}))
}

// routed prints the pool, by which a run tells evaluators apart.
type routed struct {
	eval.Runner
	pool string
}

func (r routed) String() string { return fmt.Sprintf("routed(%v, %s)", r.Runner, r.pool) }

func main() {
	runner, model := must(js.New(js.Config{})), must(offline.New(offline.Config{}))
	near := func(rows [][2]float64, _ int, x float64) float64 {
		return -math.Abs(rows[0][0] + rows[0][1]*x - math.Abs(x))
	}
	lines := newTask(runner, "lines", "function solve() {\n  return [[0.5, 0.1]]; // y = 0.5 + 0.1 x\n}\n", 1, near)
	search := must(layers.New(layers.Config{
		Bases: must(evolve.NewGreedy(evolve.GreedyConfig{Task: lines, LLM: model, N: 8})), Calls: 400, Most: 4,
		Combine: func(pool []eval.Candidate) (evolve.Arm, error) {
			router := newTask(routed{runner, layers.Digest(pool)}, "router",
				"function solve() { return ["+strings.Repeat("[0.1, 0.1], ", len(pool))+"]; }\n", len(pool),
				func(rows [][2]float64, i int, x float64) float64 {
					best := 0 // the base whose row is the highest at x
					for k := range rows {
						if rows[k][0]+rows[k][1]*x > rows[best][0]+rows[best][1]*x {
							best = k
						}
					}
					return pool[best].Result.Cases[i]
				})
			return evolve.NewGreedy(evolve.GreedyConfig{Task: router, LLM: model, N: 8})
		},
	}))
	run := evolve.Config{Arms: []evolve.Arm{search}, Budget: evolve.Budget{Calls: 400}}
	result := must(evolve.Run(context.Background(), run))
	fmt.Printf("the best line is off by %.3f, and ", -search.Result().Arms[0].Best.Result.Score)
	fmt.Printf("with a router over %d lines by %.3f:\n", len(search.Pool()), -result.Best.Result.Score)
	fmt.Println(eval.Printable(result.Best.Program))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
