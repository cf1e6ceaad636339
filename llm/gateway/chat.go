package gateway

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
)

// chat is OpenAI's dialect: POST /v1/chat/completions.
type chat struct{}

var _ dialect = chat{}

type chatRequest struct {
	Messages       []chatMessage `json:"messages"`
	Tools          []chatTool    `json:"tools"`
	ToolChoice     any           `json:"tool_choice"`
	Parallel       *bool         `json:"parallel_tool_calls"`
	Seed           *int64        `json:"seed"`
	Temperature    *float64      `json:"temperature"`
	TopP           *float64      `json:"top_p"`
	MaxTokens      *int          `json:"max_tokens"`
	MaxCompletion  *int          `json:"max_completion_tokens"`
	N              *int          `json:"n"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Stream        bool `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content content    `json:"content"`
	Calls   []chatCall `json:"tool_calls"`
	CallID  string     `json:"tool_call_id"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (chat) overloaded() int { return 503 }

func (chat) parse(body []byte) (*ask, error) {
	var r chatRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	a := &ask{
		stream: r.Stream, usage: r.StreamOptions.IncludeUsage, single: r.Parallel != nil && !*r.Parallel,
		seeded: r.Seed != nil,
	}
	a.Temperature, a.TopP, a.MaxTokens = r.Temperature, r.TopP, r.MaxTokens
	if r.MaxCompletion != nil {
		a.MaxTokens = r.MaxCompletion
	}
	if r.Seed != nil {
		a.Seed = uint32(*r.Seed)
	}
	for i, m := range r.Messages {
		message, err := m.message()
		if err != nil {
			return nil, invalid(fmt.Sprintf("messages[%d]: %v", i, err))
		}
		a.Messages = append(a.Messages, message)
	}
	for i, t := range r.Tools {
		if t.Type != "function" || t.Function.Name == "" {
			return nil, invalid(fmt.Sprintf("tools[%d]: only functions with a name are known, and not the type %q", i, t.Type))
		}
		f := t.Function
		if err := a.addTool(f.Name, f.Description, f.Parameters); err != nil {
			return nil, invalid(fmt.Sprintf("tools[%d].function.parameters: %v", i, err))
		}
	}
	return a, nil
}

// check refuses what a request to a model cannot say. Hints that no answer shows are ignored.
func (r *chatRequest) check() error {
	switch {
	case r.N != nil && *r.N != 1:
		return invalid("n: only one choice is given")
	case r.ToolChoice != nil && r.ToolChoice != "auto":
		return invalid(`tool_choice: only "auto" can be had`)
	case r.ResponseFormat.Type != "" && r.ResponseFormat.Type != "text":
		return invalid(`response_format: only "text" can be had`)
	}
	return nil
}

func (m chatMessage) message() (llm.Message, error) {
	out := llm.Message{Role: llm.ToolResult, CallID: m.CallID}
	var err error
	if m.Role != llm.ToolResult {
		out.CallID = ""
		if out.Role, err = roleOf(m.Role); err != nil {
			return out, err
		}
	} else if m.CallID == "" {
		return out, errors.New("a tool's result without tool_call_id")
	}
	if out.Content, err = m.Content.text(); err != nil {
		return out, err
	}
	for _, c := range m.Calls {
		if m.Role != llm.Assistant || c.ID == "" || c.Function.Name == "" || c.Type != "" && c.Type != "function" {
			return out, fmt.Errorf("tool_calls: need an id and a function with a name, in a message of the assistant")
		}
		out.Calls = append(out.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out, nil
}

// fields are those of an object of an answer.
type fields map[string]any

func (chat) whole(a answer) any {
	m := fields{"role": llm.Assistant, "content": a.text, "refusal": nil}
	if len(a.calls) > 0 {
		m["tool_calls"] = a.toolCalls()
	}
	if a.text == "" && len(a.calls) > 0 {
		m["content"] = nil
	}
	w := a.completion("chat.completion", fields{"index": 0, "message": m, "finish_reason": a.finish(), "logprobs": nil})
	w["usage"] = a.chatUsage()
	return w
}

func (a answer) completion(object string, choices ...fields) fields {
	return fields{"id": "chatcmpl-" + a.id, "object": object, "created": created, "model": a.model,
		"choices": append([]fields{}, choices...)} // [] in JSON, not null
}

// created is when all answers were made, in seconds since 1970.
const created = 1_700_000_000

// finish is the finish reason in OpenAI's words.
func (a answer) finish() string {
	return []string{"stop", "length", "tool_calls", "content_filter"}[a.ending]
}

// toolCalls returns the calls with their indices, which streams need.
func (a answer) toolCalls() (all []fields) {
	for i, c := range a.calls {
		all = append(all, fields{"index": i, "id": c.ID, "type": "function",
			"function": fields{"name": c.Name, "arguments": c.Arguments}})
	}
	return all
}

func (a answer) chatUsage() fields {
	u := a.usage
	return fields{"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens,
		"total_tokens":          u.PromptTokens + u.CompletionTokens,
		"prompt_tokens_details": fields{"cached_tokens": u.CachedTokens}}
}

func (chat) alive(s *stream, _ answer, _ bool) { s.comment("ping") }

func (chat) events(s *stream, a answer, _ bool) {
	const object = "chat.completion.chunk"
	send := func(delta fields, finish any) {
		s.event("", a.completion(object, fields{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}))
	}
	send(fields{"role": llm.Assistant, "content": a.text}, nil)
	for _, c := range a.toolCalls() {
		send(fields{"tool_calls": []fields{c}}, nil)
	}
	send(fields{}, a.finish())
	if a.withUsage {
		last := a.completion(object)
		last["usage"] = a.chatUsage()
		s.event("", last)
	}
	s.raw("", "[DONE]")
}

func (chat) broken(s *stream, f *failure) { s.raw("", string(f.body())) }
