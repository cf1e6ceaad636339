// Newpolicy is a bandit policy of one's own, whole, and a run with it. The policy prefers the arm
// that gained most in its last pull, and now and then tries any of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// lastGain pulls the arm whose last pull raised its score most; arms never pulled come first.
type lastGain struct{ score, gain [4]float64 }

func newLastGain() bandit.Policy {
	l := &lastGain{}
	for i := range l.gain {
		l.gain[i] = 1
	}
	return bandit.WithFloor(l, 0.1)
}

func (l *lastGain) Probs(p []float64, r bandit.Round) {
	bandit.OneHot(p, r.Open, func(arm int) float64 { return l.gain[arm] })
}

func (l *lastGain) Update(pull bandit.Pull, reward float64) {
	l.gain[pull.Arm] = reward - l.score[pull.Arm]
	l.score[pull.Arm] = reward
}

const usage = `Newpolicy makes a run of 40 rounds with a bandit policy of one's own, of four searches on circle packing,
with a model that needs no network. It takes a few seconds and has no flags; to change it, change its source.
`

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	runner := must(js.New(js.Config{}))
	cp := must(geometry.CirclePacking().Task(runner, "javascript"))
	cp = task.WithEvaluator(cp, eval.Limit(cp, 2))
	model := llm.Limit(must(offline.New(offline.Config{})), 16)
	arms := must(evolve.GreedyArms(evolve.GreedyConfig{Task: cp, LLM: model, N: 16, Seed: 40}, 4))
	result := must(evolve.Run(context.Background(), evolve.Config{Arms: arms, Policy: newLastGain(),
		Budget: evolve.Budget{Rounds: 40}}))
	for i, arm := range result.Arms {
		fmt.Printf("arm %d: %2d pulls, best %.6f\n", i, len(arm.Generations), arm.Best.Result.Score)
	}
	fmt.Printf("best %.6f after %d calls\n", result.Best.Result.Score, result.Calls)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
