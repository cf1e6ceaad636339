// Gofunc evolves a Go function: whether it is right is decided by a test, and how good it is by a
// benchmark, in a module that is thrown away afterwards. Programs in any other language are evolved in
// the same way: the command that scores them is all that changes.
//
// The function runs in the same process as its test, so it could claim to be right and fast. What it
// cannot do is harm: see docs/security.md.
package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

const system = `Write a Go file of package throwaway with a function Sort(xs []int) that sorts xs in place. It must
be right for every input; the faster it sorts 5000 random numbers, the better. Use no other packages.`

// What is around the function: its test, its benchmark, and a script that runs both.
var (
	//go:embed _throwaway/sort_test.go _throwaway/evaluate.sh
	around embed.FS
	//go:embed sort.go.txt
	initial string
)

func main() {
	template := must(os.MkdirTemp("", "gofunc-"))
	defer os.RemoveAll(template)
	files := must(fs.Sub(around, "_throwaway"))
	if err := os.CopyFS(template, files); err != nil {
		log.Fatal(err)
	}
	// What has been compiled before is compiled already; candidates can read that, and not spoil it.
	cache := must(exec.Command("go", "env", "GOCACHE").Output())
	evaluator := must(command.NewEvaluator(command.Config{
		Args: []string{"sh", "evaluate.sh"}, File: "sort.go", Template: template,
		Env: []string{"PATH", "GOCACHE=" + strings.TrimSpace(string(cache)), "GOTOOLCHAIN=local", "GOPROXY=off"},
	}))
	sorting := must(task.New(task.Spec{
		Name: "sorting", Language: "go", System: system, Initial: initial,
		Evaluator: eval.Limit(evaluator, 1), // benchmarks disturb each other
	}))
	model := must(offline.New(offline.Config{}))
	arm := must(evolve.NewGreedy(evolve.GreedyConfig{Task: sorting, LLM: model, N: 8, Seed: 1, Noisy: true}))
	result := must(evolve.Run(context.Background(), evolve.Config{
		Arms:   []evolve.Arm{arm},
		Budget: evolve.Budget{Rounds: 4},
	}))
	fmt.Printf("the standard library's speed times %.3f, at first %.3f:\n%s\n",
		result.Best.Result.Score, result.Arms[0].Start.Result.Score, result.Best.Program)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
