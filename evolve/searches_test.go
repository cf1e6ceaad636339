package evolve_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A kindOfSearch makes an arm. It is for tests of what must hold for every kind of arm.
type kindOfSearch struct {
	name string
	n    int // calls that a step makes at once
	arm  func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm
	own  bool // it has no Breeder
}

// searches are the kinds: ours, those that the examples show, one of a user who took care, and one of a user
// who took none.
var searches = []kindOfSearch{
	{name: "greedy", n: 8, arm: func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
		return newGreedy(t, evolve.GreedyConfig{Task: tk, LLM: l, N: 8, Seed: seed})
	}},
	{name: "proposers", n: 8, arm: func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
		return newGreedy(t, evolve.GreedyConfig{Task: tk, LLM: l, N: 8, Seed: seed, Proposers: []evolve.Proposer{{Name: "plain"},
			{Name: "told", System: "Be bold."}, {Name: "asked", Instruction: "Make it shorter."}}})
	}},
	{name: "steady greedy", n: 4, arm: func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
		return newGreedy(t, evolve.GreedyConfig{Task: tk, LLM: l, N: 16, Window: 4, Order: evolve.AsTheyEnd, Seed: seed})
	}},
	{name: "chain", n: 1, arm: func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
		return &chain{Breeder: evolve.Breeder{Task: tk, LLM: l}, last: math.MaxInt}
	}},
	{name: "annealing", n: 1, arm: func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
		return &annealing{Breeder: evolve.Breeder{Task: tk, LLM: l}, seed: seed}
	}},
	{name: "crossing", n: 8, arm: func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
		return newCrossing(tk, l, seed, 8)
	}},
	{name: "careless", n: 1, own: true, arm: func(t testing.TB, tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
		return &careless{task: tk, llm: l, seed: seed}
	}},
}

// annealing is the search of examples/resume, with a seed.
type annealing struct {
	evolve.Breeder
	seed    uint32
	current evolve.Child // what it goes on from
}

func (a *annealing) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return a.Breed(ctx, turn, 1, a.brief, a.take)
}

func (a *annealing) brief(int) evolve.Brief {
	if a.Steps() == 1 {
		a.current.Candidate = a.Best()
	}
	parents := []eval.Candidate{a.current.Candidate}
	return evolve.Brief{Request: task.Request{Parents: parents}, From: []int{a.current.ID},
		Seed: evolve.ChildSeed(a.seed, 1, a.Steps(), 0)}
}

func (a *annealing) take(c evolve.Child) {
	loss := a.current.Result.Score - c.Result.Score
	luck := rand.New(rand.NewPCG(uint64(c.Seed), 0)).Float64()
	if c.Result.Valid && luck < math.Exp(-loss*float64(10+a.Steps())) {
		a.current = c
	}
}

// careless is a search without a Breeder that looks at no error: the worst that a user may write who asks and
// evaluates through the turn.
type careless struct {
	task  task.Task
	llm   llm.LLM
	seed  uint32
	steps int
	best  eval.Candidate
}

func (c *careless) Best() eval.Candidate { return c.best }
func (c *careless) Done() bool           { return false }

func (c *careless) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	if c.steps++; c.steps == 1 {
		c.best.Program = c.task.Initial()
		c.best.Result, _ = turn.Evaluate(ctx, c.task, c.best.Program, 0)
	}
	gen := evolve.Generation{Index: c.steps, Before: c.best, Best: c.best}
	child := evolve.Child{Seed: evolve.ChildSeed(c.seed, 1, c.steps, 0)}
	reply, _ := turn.Ask(ctx, evolve.KindChild, c.llm, llm.Request{
		Messages: c.task.Prompt(task.Request{Parents: []eval.Candidate{c.best}}), Seed: child.Seed,
	})
	child.Attempts = reply.Attempts
	if child.Program, _ = c.task.Parse(reply.Text); child.HasProgram() {
		child.Result, _ = turn.Evaluate(ctx, c.task, child.Program, 0)
	}
	if child.Better(c.best) {
		c.best, gen.Best = child.Candidate, child.Candidate
	}
	gen.Children = []evolve.Child{child}
	return gen, nil
}
