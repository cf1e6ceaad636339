// Package priced has the study of arms that cost unlike: a search that rewrites and one whose children are sessions of
// many calls, each alone and both under a policy, with one budget of money.
package priced

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Condition is how a session compares with a rewrite: how many calls it makes, and how many rewrites of the program
// that it begins with it looks at. It submits the best of them.
type Condition struct {
	Calls, Looks int
}

// String returns the condition in words.
func (c Condition) String() string {
	return fmt.Sprintf("%d rewrites for %d times the price", c.Looks, c.Calls)
}

// Conditions are two in which a session costs a hundred rewrites and is worth fewer or more, and one of equal prices.
func Conditions() []Condition { return []Condition{{100, 20}, {100, 500}, {1, 5}} }

// price is that of the one model, for a million tokens.
var price = llm.Price{Prompt: 1000, Cached: 1000, Completion: 1000}

// An agent is greedy search whose children are made by sessions.
type agent struct {
	evolve.Breeder
	problem   compare.Problem
	condition Condition
	seed      uint32
}

var (
	_ evolve.Sizer   = (*agent)(nil)
	_ evolve.Starter = (*agent)(nil)
)

func newAgent(p compare.Problem, c Condition, seed uint32) *agent {
	return &agent{Breeder: evolve.Breeder{Task: p.Task, LLM: p.LLM}, problem: p, condition: c, seed: seed}
}

// Calls returns 1, as a step makes one child: how many calls that takes is for the run to find out.
func (a *agent) Calls() int { return 1 }

// Step has one session.
func (a *agent) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	parent := evolve.Child{Candidate: a.Best()}
	brief := func(i int) evolve.Brief {
		b := evolve.Brief{Seed: evolve.ChildSeed(a.seed, 1, a.Steps()-1, i)}.Of(parent)
		messages := a.problem.Task.Prompt(task.Ask{Parents: b.Ask.Parents})
		b.Make = func(ctx context.Context, w *evolve.Work) (string, error) { return a.session(ctx, w, messages) }
		return b
	}
	return a.Breed(ctx, turn, 1, brief, nil)
}

// session returns the best of the rewrites that it looks at. Those beyond its calls stand for what it is worth more
// than they are, and cost nothing. Calls beyond those stand for what it does besides.
func (a *agent) session(ctx context.Context, w *evolve.Work, messages []llm.Message) (best string, err error) {
	top := -1.0
	for i := range max(a.condition.Calls, a.condition.Looks) {
		_, seed := stream.Seed(uint64(w.Seed), "priced look", uint64(i))
		req := llm.Request{Messages: messages, Seed: uint32(seed)}
		var r llm.Reply
		if i < a.condition.Calls {
			r, err = w.Ask(ctx, "agent", nil, req)
		} else {
			r, err = a.problem.LLM.Generate(context.Background(), req)
		}
		if err != nil {
			return "", err
		}
		program, bad := a.problem.Task.Parse(r.Text)
		if bad != nil || i >= a.condition.Looks {
			continue
		}
		if score := a.problem.True(program); score > top {
			best, top = program, score
		}
	}
	if best == "" {
		return "", fmt.Errorf("priced: none of %d rewrites is a program", a.condition.Looks)
	}
	return best, nil
}
