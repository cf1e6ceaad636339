// Newtask is a task of one's own, scored by a Go function: programs are JavaScript and return the
// coefficients of a polynomial; the closer it stays to sin x, the better. The program runs apart,
// with time and memory limits, and returns data; the score is computed here, where it cannot reach.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

const (
	system = `Write a JavaScript function solve() that returns an array [a, b, c] of three numbers, such that
a·x + b·x³ + c·x⁵ stays as close as possible to sin x for all x from 0 to π.`
	initial = `
// The first terms of the Taylor series at 0.
function solve() {
  return [1.0, -0.1666, 0.0083];
}
`
)

// score reads what a program returned and trusts none of it. It is 1 for a perfect fit, and less the
// further the polynomial strays from sin x.
func score(out json.RawMessage) eval.Result {
	var c []float64
	if err := json.Unmarshal(out, &c); err != nil || len(c) != 3 {
		return eval.Invalid("not an array of 3 numbers: %.60s", out)
	}
	worst := 0.0
	for i := range 1001 {
		x := math.Pi * float64(i) / 1000
		worst = max(worst, math.Abs(x*(c[0]+x*x*(c[1]+x*x*c[2]))-math.Sin(x)))
	}
	return eval.Result{Valid: true, Score: 1 / (1 + worst), Metrics: map[string]float64{"max_error": worst}}
}

const usage = `Newtask makes a search of 30 generations on a task of one's own, a polynomial near sin x, with a model
that needs no network. It takes a few seconds and has no flags; to change it, change its source.
`

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	runner := must(js.New(js.Config{}))
	sine := must(task.New(task.Spec{
		Name: "sine", Language: "javascript", System: system, Initial: initial,
		Evaluator: eval.Limit(eval.Scored(runner, "solve", score), 2),
	}))
	model := must(offline.New(offline.Config{}))
	arm := must(evolve.NewGreedy(evolve.GreedyConfig{Task: sine, LLM: model, N: 32, Seed: 1}))
	result := must(evolve.Run(context.Background(), evolve.Config{
		Arms:   []evolve.Arm{arm},
		Budget: evolve.Budget{Rounds: 30},
	}))
	fmt.Printf("error from %.4f to %.4f after %d calls:\n%s\n",
		result.Arms[0].Start.Result.Metrics["max_error"], result.Best.Result.Metrics["max_error"], result.Calls,
		eval.Printable(result.Best.Program))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
