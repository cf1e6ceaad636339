package population

import (
	"context"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// heat draws the temperature at which a model is asked for the child.
func (p *Population) heat(b *evolve.Brief, x *expected) {
	n := len(p.cfg.Temperatures)
	if n == 0 || b.Make != nil {
		return
	}
	model := b.LLM
	for _, next := range []llm.LLM{p.Proposers[x.proposer].LLM, p.cfg.LLM} {
		if model == nil {
			model = next
		}
	}
	b.LLM = heated{model, p.cfg.Temperatures[x.view.Rand.IntN(n)]}
}

// heated is a model that is asked at one temperature, unless a request has its own.
type heated struct {
	llm.LLM
	temperature float64
}

// Generate asks the model.
func (m heated) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if req.Temperature == nil {
		req.Temperature = &m.temperature
	}
	return m.LLM.Generate(ctx, req)
}

// Unwrap returns the model.
func (m heated) Unwrap() llm.LLM { return m.LLM }
