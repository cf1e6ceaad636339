// Newsearch is a search of one's own, whole, and a run with it: simulated annealing, which now and then goes on from a
// worse program. What every search has to do, such as evaluating and recording children, is the Breeder's.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// annealing makes one child a step. What it asks for follows from its seeds and the answers, which is all that a search
// needs to be resumed from a journal.
type annealing struct {
	evolve.Breeder
	current evolve.Child // what it goes on from
}

// Step is the method of an evolve.Arm. Best and Done are the Breeder's.
func (a *annealing) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return a.Breed(ctx, turn, 1, a.brief, a.take)
}

// brief says how the next child is made: a rewrite of the current program.
func (a *annealing) brief(int) evolve.Brief {
	if !a.current.HasProgram() {
		a.current = a.Initial()
	}
	return evolve.Brief{Seed: evolve.ChildSeed(1, 1, a.Steps(), 0)}.Of(a.current)
}

// take is told of the child. A better one is gone on from, and another with a chance that falls with the loss and time.
func (a *annealing) take(c evolve.Child) {
	luck := rand.New(rand.NewPCG(uint64(c.Seed), 0)).Float64()
	if loss := a.current.Result.Score - c.Result.Score; c.Result.Valid && luck < math.Exp(-loss*float64(10+a.Steps())) {
		a.current = c
	}
}

func main() {
	runner := must(js.New(js.Config{}))
	cp := must(geometry.CirclePacking().Task(runner, "javascript"))
	search := &annealing{Breeder: evolve.Breeder{Task: cp, LLM: must(offline.New(offline.Config{}))}}
	result := must(evolve.Run(context.Background(), evolve.Config{
		Arms: []evolve.Arm{search}, Budget: evolve.Budget{Calls: 200},
	}))
	fmt.Printf("best %.6f after %d calls, and at last it went on from %.6f\n",
		result.Best.Result.Score, result.Calls, search.current.Result.Score)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
