package evolve_test

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// crossing is a (μ+λ) evolution strategy with crossover: each step makes lambda children, every one of two
// parents that won a tournament, and the mu best of parents and children are the next parents.
type crossing struct {
	evolve.Breeder
	mu, lambda int
	seed       uint32
	members    []evolve.Child // best first
}

var _ interface {
	evolve.Sizer
	evolve.Starter
} = (*crossing)(nil)

func newCrossing(tk task.Task, l llm.LLM, seed uint32, lambda int) *crossing {
	return &crossing{Breeder: evolve.Breeder{Task: tk, LLM: l}, mu: 4, lambda: lambda, seed: seed}
}

func (c *crossing) Calls() int { return c.lambda }

func (c *crossing) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return c.Breed(ctx, turn, c.lambda, c.brief, c.take)
}

// brief makes a child of two parents, of which the first is the one that is changed.
func (c *crossing) brief(i int) evolve.Brief {
	if len(c.members) == 0 {
		c.members = []evolve.Child{{Candidate: c.Best()}} // the initial program, with the ID 0
	}
	seed := evolve.ChildSeed(c.seed, c.lambda, c.Steps()-1, i)
	luck := rand.New(rand.NewPCG(uint64(seed), 1))
	a, b := c.tournament(luck), c.tournament(luck)
	return evolve.Brief{
		Request: task.Request{Parents: []eval.Candidate{a.Candidate, b.Candidate},
			Instruction: "Combine the two programs into a better one."},
		From: []int{a.ID, b.ID}, Operator: "crossover", Seed: seed,
	}
}

// tournament returns the better of two members.
func (c *crossing) tournament(luck *rand.Rand) evolve.Child {
	return c.members[min(luck.IntN(len(c.members)), luck.IntN(len(c.members)))]
}

// take keeps the mu best. Of equals the older one stands first.
func (c *crossing) take(child evolve.Child) {
	if !child.Scored() {
		return
	}
	at := slices.IndexFunc(c.members, func(m evolve.Child) bool { return child.Better(m.Candidate) })
	if at < 0 {
		at = len(c.members)
	}
	c.members = slices.Insert(c.members, at, child)
	c.members = c.members[:min(c.mu, len(c.members))]
}
