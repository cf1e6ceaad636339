package pool_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// Usage that lies makes no sum turn over.
func TestPoolSumsBearAnyUsage(t *testing.T) {
	lie := llm.Usage{PromptTokens: math.MaxInt, CachedTokens: math.MaxInt - 1, CompletionTokens: math.MaxInt}
	p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{{Name: "a",
		LLM: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK, Usage: &lie}, {Status: llm.OK, Streamed: math.MaxInt}}},
				nil
		})}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p.Generate(t.Context(), llm.Request{})
	}
	if e := p.Report().Endpoints[0]; e.PromptTokens <= 0 || e.CachedTokens > e.PromptTokens || e.CompletionTokens <= 0 {
		t.Errorf("%+v", e)
	}
}

// An endpoint that refuses a request for its own fault works, whatever it says of coming back.
func TestPoolKeepsAnEndpointThatRefusesARequest(t *testing.T) {
	fail := &llm.Error{Status: llm.Failed, Kind: llm.KindContextLength, RetryAfter: time.Hour, Err: fmt.Errorf("too long")}
	p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{{Name: "a",
		LLM: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: fail.Kind}}}, fail
		})}}})
	if err != nil {
		t.Fatal(err)
	}
	p.Generate(t.Context(), llm.Request{})
	if e := p.Report().Endpoints[0]; e.Health != pool.Healthy || e.Outs != 0 {
		t.Errorf("%+v", e)
	}
}
