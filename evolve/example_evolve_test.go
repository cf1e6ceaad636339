package evolve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// score reads what a program returned, and trusts none of it.
func score(out json.RawMessage) eval.Result {
	var x float64
	if err := json.Unmarshal(out, &x); err != nil {
		return eval.Invalid("not a number: %.60s", out)
	}
	return eval.Result{Valid: true, Score: 1 / (1 + math.Abs(x*x-2))}
}

func ExampleEvolve() {
	runner, err := js.New(js.Config{}) // runs programs apart, with limits of time and memory
	if err != nil {
		log.Fatal(err)
	}
	root, err := task.New(task.Spec{
		Name: "root", Language: "javascript", Initial: "function solve() { return 1.0; }",
		System:    "Write solve(), which returns a number whose square is 2.",
		Evaluator: eval.Scored(runner, "solve", score),
	})
	if err != nil {
		log.Fatal(err)
	}
	model, err := offline.New(offline.Config{}) // a stand-in that needs no network; or openai.New
	if err != nil {
		log.Fatal(err)
	}
	result, err := evolve.Evolve(context.Background(), root, model, 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Stop, result.Calls, result.Best.Result.Score > 0.9)
	// Output: budget 100 true
}
