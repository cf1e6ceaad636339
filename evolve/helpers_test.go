package evolve_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// numbers is a task whose programs are numbers and score what they are; a program that is no number
// is invalid. It counts its evaluations.
type numbers struct {
	task.Task
	evaluations atomic.Int64
}

func newNumbers(t testing.TB, initial string) *numbers {
	n := &numbers{}
	var err error
	if n.Task, err = numbersTask(initial, n); err != nil {
		t.Fatal(err)
	}
	return n
}

func numbersTask(initial string, n *numbers) (task.Task, error) {
	return task.New(task.Spec{
		Name: "numbers", Language: "text", System: "Write a larger number.", Initial: initial,
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			n.evaluations.Add(1)
			if program == "broken evaluator" {
				return eval.Result{}, fmt.Errorf("the evaluator is broken")
			}
			v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
			if err != nil {
				return eval.Invalid("not a number: %.20q", program), nil
			}
			return eval.Result{Score: v, Valid: true, Metrics: map[string]float64{"value": v}}, nil
		}),
	})
}

// ok is a model's usual answer, with usage that depends on the seed.
func ok(text string, seed uint32) llm.Reply {
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{
		Status: llm.OK, FinishReason: "stop", MaxTokens: 100, Latency: time.Millisecond,
		Usage: &llm.Usage{PromptTokens: 50, CachedTokens: int(seed % 50), CompletionTokens: 1 + int(seed%7)},
	}}}
}

// parent reads the number in the prompt's program.
func parent(req llm.Request) float64 {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
	if err != nil {
		panic(err)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
	if err != nil {
		panic(err)
	}
	return v
}

// climber adds to the number it is shown something that depends on the seed alone, seldom much.
var climber = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
	switch u := float64(req.Seed) / (1 << 32); {
	case u < 0.1:
		return ok("I would rather not.", req.Seed), nil
	case u < 0.9:
		return ok(fmt.Sprintf("```text\n%v\n```", parent(req)-u), req.Seed), nil
	default:
		return ok(fmt.Sprintf("```text\n%v\n```", parent(req)+u/100), req.Seed), nil
	}
})

// arms returns k greedy arms of n children over climber.
func arms(t testing.TB, k, n int) []evolve.Arm {
	t.Helper()
	a, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: n, Seed: 40}, k)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// answers gives the i-th child of a first generation the i-th reply, by its seed.
func answers(seed uint32, n int, reply func(i int) (llm.Reply, error)) llm.LLM {
	index := map[uint32]int{}
	for i := range n {
		index[evolve.ChildSeed(seed, n, 0, i)] = i
	}
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		i, found := index[req.Seed]
		if !found {
			return llm.Reply{}, fmt.Errorf("no child has seed %d", req.Seed)
		}
		return reply(i)
	})
}
