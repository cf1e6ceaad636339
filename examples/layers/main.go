// Layers approximates |x| in two runs: the first finds straight lines, of which a pool is frozen, and the second a router
// that says which line of the pool to use where.
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

func main() {
	runner, model := must(js.New(js.Config{})), must(offline.New(offline.Config{}))
	lines := newTask(runner, "lines", "function solve() {\n  return [[0.5, 0.1]]; // y = 0.5 + 0.1 x\n}\n", 1,
		func(rows [][2]float64, _ int, x float64) float64 {
			return -math.Abs(rows[0][0] + rows[0][1]*x - math.Abs(x))
		})
	bases := must(evolve.NewGreedy(evolve.GreedyConfig{Task: lines, LLM: model, N: 8}))
	var found []eval.Candidate // all lines of the run: where none is good everywhere, the best alone is not enough
	bases.OnChild = func(c evolve.Child) { found = append(found, c.Candidate) }
	first := run(bases)

	pool := freeze(append(found, first.Best), 4)
	router := newTask(runner, "router", "function solve() { return ["+strings.Repeat("[0.1, 0.1], ", len(pool))+"]; }\n",
		len(pool), func(rows [][2]float64, i int, x float64) float64 {
			best := 0 // the line whose row is the highest at x
			for k := range rows {
				if rows[k][0]+rows[k][1]*x > rows[best][0]+rows[best][1]*x {
					best = k
				}
			}
			return pool[best].Result.Cases[i]
		})
	second := run(must(evolve.NewGreedy(evolve.GreedyConfig{Task: router, LLM: model, N: 8})))
	fmt.Printf("the best line is off by %.3f, and ", -first.Best.Result.Score)
	fmt.Printf("with a router over %d lines by %.3f:\n", len(pool), -second.Best.Result.Score)
	fmt.Println(eval.Printable(second.Best.Program))
}

// run gives half of the calls to a search.
func run(search evolve.Arm) *evolve.Result {
	budget := evolve.Budget{Calls: 200}
	return must(evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{search}, Budget: budget}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
