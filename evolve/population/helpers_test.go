package population_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// numbers is a task whose programs are numbers, which score what they are.
func numbers(t testing.TB, initial string) task.Task {
	t.Helper()
	return made(t, task.Spec{Name: "numbers", Language: "text", System: "Write a larger number.", Initial: initial,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
			if err != nil {
				return eval.Invalid("not a number: %.20q", program), nil
			}
			return eval.Result{Score: v, Valid: true}, nil
		})})
}

func made(t testing.TB, s task.Spec) task.Task {
	t.Helper()
	tk, err := task.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// ok is an answer.
func ok(text string) llm.Reply {
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: "stop", MaxTokens: 100,
		Usage: &llm.Usage{PromptTokens: 50, CompletionTokens: 5}}}}
}

// shown returns the first program of the prompt, which is the parent.
func shown(req llm.Request) string {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(program)
}

// climber changes the number that it is shown by something that depends on the seed alone, seldom for the better. One
// reply in twenty has no number, and one call in twenty times out.
var climber = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	v, err := strconv.ParseFloat(shown(req), 64)
	if err != nil {
		v = 0
	}
	switch u := float64(req.Seed) / (1 << 32); {
	case u < 0.05:
		return ok("I would rather not."), nil
	case u < 0.1:
		late := llm.Attempt{Status: llm.Timeout, MaxTokens: 100, Err: "late"}
		return llm.Reply{Attempts: []llm.Attempt{late}}, &llm.Error{Status: llm.Timeout, Err: context.DeadlineExceeded}
	case u < 0.8:
		return ok(fmt.Sprintf("```text\n%v\n```", v-u)), nil
	default:
		return ok(fmt.Sprintf("```text\n%v\n```", v+u/100)), nil
	}
})

// slow is climber with latencies that depend on the seed and on shuffle. It is for a bubble of synctest.
func slow(shuffle uint64) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(time.Duration(rand.New(rand.NewPCG(shuffle, uint64(req.Seed))).IntN(1000)) * time.Millisecond)
		return climber(ctx, req)
	})
}

func newPopulation(t testing.TB, cfg population.Config) *population.Population {
	t.Helper()
	p, err := population.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t testing.TB, arm evolve.Arm, calls int) *evolve.Result {
	t.Helper()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: calls}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// member is a valid one.
func member(id int, program string, score float64) population.Member {
	return population.Member{ID: id, Candidate: eval.Candidate{Program: program,
		Result: eval.Result{Valid: true, Score: score}}}
}

// invalid is one that is not.
func invalid(id int, program string) population.Member {
	return population.Member{ID: id, Candidate: eval.Candidate{Program: program, Result: eval.Invalid("it throws")}}
}

// ids returns the members' IDs in order.
func ids(members []population.Member) []int {
	list := make([]int, len(members))
	for i, m := range members {
		list[i] = m.ID
	}
	return list
}

// lengths is a runner that returns the program as its output.
type lengths struct{}

func (lengths) Run(_ context.Context, program, _ string) (json.RawMessage, error) {
	return json.RawMessage(program), nil
}

// script is a task in JavaScript.
func script() task.Task {
	t, err := task.New(task.Spec{Name: "script", Language: "javascript", Initial: "return 0",
		Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil })})
	if err != nil {
		panic(err)
	}
	return t
}

// take tells a gate of a program that was scored, as a search does.
func take(g population.Gate, m population.Member) {
	g.(interface{ Follow(population.Birth) }).Follow(population.Birth{Child: evolve.Child{Candidate: m.Candidate,
		ID: m.ID}, Task: script()})
}

// asked returns a member of which so many children were made.
func asked(id int, score float64, children int) population.Member {
	return population.NewMember(evolve.Child{Candidate: member(id, "", score).Candidate, ID: id}, children)
}
