// Package priced has the study of arms that cost unlike: a search that rewrites and one whose proposer is dear, each alone
// and both under a policy, with one budget of money.
package priced

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
)

// A Condition is how a dear proposer compares with a rewrite: what it costs, and how many rewrites of the program that it
// is shown it looks at. It returns the best of them.
type Condition struct {
	Price, Looks int
}

// String returns the condition in words.
func (c Condition) String() string {
	return fmt.Sprintf("%d rewrites for %d times the price", c.Looks, c.Price)
}

// Conditions are two in which a session costs a hundred rewrites and is worth fewer or more, and one of equal prices.
func Conditions() []Condition { return []Condition{{100, 20}, {100, 500}, {1, 5}} }

// The keys of the two models.
const (
	rewriter = "rewrite"
	agent    = "agent"
)

// models returns what the two cost, in rewrites of a thousand tokens.
func (c Condition) models() (cheap, dear llm.Model) {
	price := func(key string, p float64) llm.Model {
		return llm.Model{Key: key, Name: key, MaxTokens: 256, Price: &llm.Price{Prompt: p, Cached: p, Completion: p}}
	}
	return price(rewriter, 1000), price(agent, 1000*float64(c.Price))
}

// rewrites is the problem's stand-in under the name that it is charged by.
func rewrites(p compare.Problem) llm.LLM {
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) { return ask(p, req, rewriter) })
}

// looks answers with the best of so many rewrites, as one that tries them before it submits one.
func looks(p compare.Problem, n int) llm.LLM {
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		var best llm.Reply
		top := -1.0
		for i := range n {
			_, seed := stream.Seed(uint64(req.Seed), "priced look", uint64(i))
			one := req
			one.Seed = uint32(seed)
			r, err := ask(p, one, agent)
			if err != nil {
				return r, err
			}
			score := 0.0
			if program, err := p.Task.Parse(r.Text); err == nil {
				score = p.True(program)
			}
			if score > top {
				best, top = r, score
			}
		}
		return best, nil
	})
}

// ask asks the stand-in. It is not told of the run's trace, as what looks asks is one call.
func ask(p compare.Problem, req llm.Request, model string) (llm.Reply, error) {
	r, err := p.LLM.Generate(context.Background(), req)
	for i := range r.Attempts {
		r.Attempts[i].Model = model
	}
	return r, err
}
