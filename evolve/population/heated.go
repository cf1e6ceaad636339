package population

import (
	"context"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// heat draws the temperature at which a model is asked for the child.
func (p *Population) heat(b *evolve.Brief, v *View) {
	n := len(p.cfg.Temperatures)
	if n == 0 || b.Make != nil {
		return
	}
	model := b.LLM
	if model == nil {
		model = p.cfg.LLM
	}
	b.LLM = heated{model, p.cfg.Temperatures[v.Rand.IntN(n)]}
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
