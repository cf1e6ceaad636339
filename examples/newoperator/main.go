// Newoperator is an operator of one's own, whole, and a search that draws it or another one for each child, by a
// bandit.
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"runtime"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// repair asks for a rewrite of the parent, and shows a program that failed lately with the reason, as a warning.
type repair struct{}

// Name is what results call the operator.
func (repair) Name() string { return "warned" }

// Brief says how the child is made. What it draws comes from v.Rand, so that the run can be repeated.
func (repair) Brief(v *population.View) evolve.Brief {
	b := v.Brief()
	b.Instruction = "Rewrite the program such that it scores higher."
	if n := len(v.Invalid); n > 0 {
		failed := v.Invalid[v.Rand.IntN(n)]
		b.Instruction += fmt.Sprintf(" Do not repeat this mistake: %s.", failed.Result.Reason)
	}
	return b
}

func main() {
	runner := must(js.New(js.Config{}))
	cp := must(geometry.CirclePacking().Task(runner, "javascript"))
	stand := must(offline.New(offline.Config{}))
	search := must(population.New(population.Config{
		Task: task.WithEvaluator(cp, eval.Limit(cp, runtime.NumCPU())), LLM: llm.Limit(stand, 16), N: 8, Seed: 1,
		Archive:   population.Top(4), // the programs that are kept
		Operators: []population.Operator{population.Rewrite{}, repair{}},
		Policy:    &bandit.UCB1{}, // draws an operator for each child
	}))
	result := must(evolve.Run(context.Background(), evolve.Config{
		Arms: []evolve.Arm{search}, Budget: evolve.Budget{Calls: 400},
	}))
	file := report.NewGreedy(result, report.Header{Task: cp.Name(), Model: stand.Spec(), N: 8, Kind: "mine"}, 1)
	for _, name := range slices.Sorted(maps.Keys(file.Operators)) {
		o := file.Operators[name]
		fmt.Printf("%-8s %3d children, %d better than their parents\n", eval.Printable(name), o.Children, o.Improved)
	}
	fmt.Printf("best %.6f after %d calls\n", result.Best.Result.Score, result.Calls)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
