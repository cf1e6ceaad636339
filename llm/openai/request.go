package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/llm"
)

// A body is the body of a request: the model's sampling, overridden by the request's. OpenAI's client has
// params of its own for it, which take several times as long to encode and more memory than most prompts: over a kilobyte
// each.
type body struct {
	Model               string         `json:"model"`
	Messages            any            `json:"messages"` // []llm.Message, or []wireMessage if there are calls in them
	Seed                uint32         `json:"seed"`
	Temperature         float64        `json:"temperature"`
	TopP                float64        `json:"top_p"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	Tools               []wireTool     `json:"tools,omitempty"`

	request llm.Request
}

type streamOptions struct {
	IncludeUsage    bool `json:"include_usage"`
	ContinuousUsage bool `json:"continuous_usage_stats,omitempty"`
}

// body makes the body for req.
func (c *Client) body(req llm.Request) (*body, error) {
	m := c.cfg.Model
	b := &body{
		Model: m.Name, Messages: wireMessages(req.Messages), Seed: req.Seed,
		Temperature: or(req.Temperature, m.Temperature), TopP: or(req.TopP, m.TopP),
		request: req,
	}
	limit := or(req.MaxTokens, m.MaxTokens)
	if c.cfg.MaxCompletionTokens {
		b.MaxCompletionTokens = limit
	} else {
		b.MaxTokens = limit
	}
	if err := checkSampling(b.Temperature, b.TopP, limit); err != nil {
		return nil, err
	}
	if err := checkMessages(req.Messages); err != nil {
		return nil, err
	}
	var err error
	b.Tools, err = wireTools(req.Tools)
	return b, err
}

// limit is the cap on new tokens.
func (b *body) limit() int { return b.MaxTokens + b.MaxCompletionTokens }

func or[T any](override *T, own T) T {
	if override != nil {
		return *override
	}
	return own
}

// checkSampling refuses values that JSON cannot hold; the endpoint judges the ranges.
func checkSampling(temperature, topP float64, limit int) error {
	switch {
	case math.IsNaN(temperature) || math.IsInf(temperature, 0):
		return fmt.Errorf("temperature %v is not finite", temperature)
	case math.IsNaN(topP) || math.IsInf(topP, 0):
		return fmt.Errorf("top-p %v is not finite", topP)
	case limit < 1:
		return fmt.Errorf("max tokens %d: need at least 1", limit)
	}
	return nil
}

func checkMessages(messages []llm.Message) error {
	if len(messages) == 0 {
		return errors.New("the request has no messages")
	}
	for i, m := range messages {
		switch {
		case !slices.Contains([]string{llm.System, llm.User, llm.Assistant, llm.ToolResult}, m.Role):
			return fmt.Errorf("message %d has the role %q: need system, user, assistant or tool", i, m.Role)
		case (m.Role == llm.ToolResult) != (m.CallID != ""):
			return fmt.Errorf("message %d has the role %q and the CallID %q: only results of tools have one, and need it",
				i, m.Role, m.CallID)
		case m.Role != llm.Assistant && len(m.Calls) > 0:
			return fmt.Errorf("message %d has the role %q and calls of tools, which only the assistant makes", i, m.Role)
		}
	}
	return nil
}

// encode returns the body as JSON, with the user's extra fields, which replace ours.
func (c *Client) encode(b *body) ([]byte, error) {
	own, err := marshal(b)
	if err != nil || len(c.cfg.Extra) == 0 {
		return own, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(own, &fields); err != nil {
		return nil, err
	}
	all := maps.Clone(c.cfg.Extra)
	if !b.Stream {
		delete(all, "stream_options") // no endpoint takes them alone
	}
	for name, value := range fields {
		if _, ok := all[name]; !ok {
			all[name] = value
		}
	}
	return marshal(all)
}

// marshal does not escape <, > and &, which programs are full of.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
