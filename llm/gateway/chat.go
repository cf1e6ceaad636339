package gateway

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// chat is OpenAI's dialect: POST /v1/chat/completions.
type chat struct{}

var _ dialect = chat{}

type chatRequest struct {
	Messages       []chatMessage   `json:"messages"`
	Tools          []chatTool      `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	Functions      []any           `json:"functions"`
	Parallel       *bool           `json:"parallel_tool_calls"`
	Seed           *int64          `json:"seed"`
	Temperature    *float64        `json:"temperature"`
	TopP           *float64        `json:"top_p"`
	MaxTokens      *int            `json:"max_tokens"`
	MaxCompletion  *int            `json:"max_completion_tokens"`
	N              *int            `json:"n"`
	Stop           textList        `json:"stop"`
	Logprobs       bool            `json:"logprobs"`
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
	Index    *int   `json:"index,omitempty"` // in streams
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
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
		stream: r.Stream, usage: r.StreamOptions.IncludeUsage, stops: r.Stop, single: r.Parallel != nil && !*r.Parallel,
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
		parameters, err := schema(t.Function.Parameters)
		if err != nil {
			return nil, invalid(fmt.Sprintf("tools[%d].function.parameters: %v", i, err))
		}
		f := t.Function
		a.Tools = append(a.Tools, llm.Tool{Name: f.Name, Description: f.Description, Parameters: parameters})
	}
	return a, nil
}

// check refuses what a request to a model cannot say. Hints that no answer shows are ignored.
func (r *chatRequest) check() error {
	choice := strings.TrimSpace(string(r.ToolChoice))
	switch {
	case r.N != nil && *r.N != 1:
		return invalid("n: only one choice is given")
	case len(r.Functions) > 0:
		return invalid("functions: use tools")
	case r.Logprobs:
		return invalid("logprobs: not known here")
	case choice != "" && choice != "null" && choice != `"auto"`:
		return invalid(`tool_choice: only "auto" can be had`)
	case r.ResponseFormat.Type != "" && r.ResponseFormat.Type != "text":
		return invalid(`response_format: only "text" can be had`)
	}
	return nil
}

func (m chatMessage) message() (llm.Message, error) {
	out := llm.Message{Role: m.Role, CallID: m.CallID}
	switch m.Role {
	case "developer":
		out.Role = llm.System
	case llm.System, llm.User, llm.Assistant:
	case llm.ToolResult:
		if m.CallID == "" {
			return out, fmt.Errorf("a tool's result without tool_call_id")
		}
	default:
		return out, fmt.Errorf("the role %q is not known", m.Role)
	}
	if out.Role != llm.ToolResult {
		out.CallID = ""
	}
	text, err := m.Content.text()
	if err != nil {
		return out, err
	}
	out.Content = text
	for _, c := range m.Calls {
		if m.Role != llm.Assistant || c.ID == "" || c.Function.Name == "" || c.Type != "" && c.Type != "function" {
			return out, fmt.Errorf("tool_calls: need an id and a function with a name, in a message of the assistant")
		}
		out.Calls = append(out.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out, nil
}

// The form of answers.
type (
	completion struct {
		ID      string     `json:"id"`
		Object  string     `json:"object"`
		Created int64      `json:"created"`
		Model   string     `json:"model"`
		Choices []choice   `json:"choices"`
		Usage   *chatUsage `json:"usage,omitempty"`
	}
	choice struct {
		Index        int     `json:"index"`
		Message      *reply  `json:"message,omitempty"`
		Delta        *delta  `json:"delta,omitempty"`
		FinishReason *string `json:"finish_reason"`
		Logprobs     *string `json:"logprobs"`
	}
	reply struct {
		Role    string     `json:"role"`
		Content *string    `json:"content"`
		Refusal *string    `json:"refusal"`
		Calls   []chatCall `json:"tool_calls,omitempty"`
	}
	delta struct {
		Role    string     `json:"role,omitempty"`
		Content *string    `json:"content,omitempty"`
		Calls   []chatCall `json:"tool_calls,omitempty"`
	}
	chatUsage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
)

func (chat) whole(a answer) any {
	r := &reply{Role: llm.Assistant, Content: &a.text}
	if a.text == "" && len(a.calls) > 0 {
		r.Content = nil
	}
	for _, c := range a.calls {
		r.Calls = append(r.Calls, chatCallOf(c))
	}
	finish := a.finish()
	w := a.completion("chat.completion", choice{Message: r, FinishReason: &finish})
	w.Usage = chatUsageOf(a.usage)
	return w
}

func (a answer) completion(object string, choices ...choice) completion {
	if choices == nil {
		choices = []choice{} // [] in JSON, not null
	}
	return completion{ID: "chatcmpl-" + a.id, Object: object, Created: 1_700_000_000, Model: a.model, Choices: choices}
}

// finish is the finish reason in OpenAI's words.
func (a answer) finish() string {
	switch a.ending {
	case cut:
		return "length"
	case calling:
		return "tool_calls"
	case filtered:
		return "content_filter"
	}
	return "stop"
}

func chatCallOf(c llm.ToolCall) chatCall {
	call := chatCall{ID: c.ID, Type: "function"}
	call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
	return call
}

func chatUsageOf(u llm.Usage) *chatUsage {
	w := &chatUsage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.PromptTokens + u.CompletionTokens}
	w.Details.Cached = u.CachedTokens
	return w
}

func (chat) alive(s *stream, _ answer, _ bool) { s.comment("ping") }

func (chat) events(s *stream, a answer, _ bool) {
	const object = "chat.completion.chunk"
	send := func(d delta, finish *string) {
		s.event("", a.completion(object, choice{Delta: &d, FinishReason: finish}))
	}
	empty := ""
	send(delta{Role: llm.Assistant, Content: &empty}, nil)
	for _, piece := range pieces(a.text) {
		send(delta{Content: &piece}, nil)
	}
	for i, c := range a.calls {
		begin := chatCallOf(c)
		begin.Index, begin.Function.Arguments = &i, ""
		send(delta{Calls: []chatCall{begin}}, nil)
		for _, piece := range pieces(c.Arguments) {
			more := chatCall{Index: &i}
			more.Function.Arguments = piece
			send(delta{Calls: []chatCall{more}}, nil)
		}
	}
	finish := a.finish()
	send(delta{}, &finish)
	if a.withUsage {
		last := a.completion(object)
		last.Usage = chatUsageOf(a.usage)
		s.event("", last)
	}
	s.raw("", "[DONE]")
}

func (chat) broken(s *stream, f *failure) { s.raw("", string(f.body())) }
