package population

import (
	"context"

	"github.com/evoalloc/evoalloc/llm"
)

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
