package gateway

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// messages is Anthropic's dialect: POST /v1/messages.
type messages struct{}

var _ dialect = messages{}

type messagesRequest struct {
	System      content        `json:"system"`
	Messages    []blockMessage `json:"messages"`
	Tools       []blockTool    `json:"tools"`
	ToolChoice  *toolChoice    `json:"tool_choice"`
	Temperature *float64       `json:"temperature"`
	TopP        *float64       `json:"top_p"`
	MaxTokens   *int           `json:"max_tokens"`
	Stream      bool           `json:"stream"`
}

type toolChoice struct {
	Type     string `json:"type"`
	Disabled bool   `json:"disable_parallel_tool_use"`
}

type blockMessage struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type blockTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func (messages) overloaded() int { return statusOverloaded }

func (messages) parse(body []byte) (*ask, error) {
	var r messagesRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	a := &ask{stream: r.Stream}
	a.Temperature, a.TopP, a.MaxTokens = r.Temperature, r.TopP, r.MaxTokens
	if c := r.ToolChoice; c != nil {
		if c.Type != "auto" {
			return nil, invalid(`tool_choice: only the type "auto" can be had`)
		}
		a.single = c.Disabled
	}
	system, err := r.System.text()
	if err != nil {
		return nil, invalid("system: " + err.Error())
	}
	if system != "" {
		a.Messages = append(a.Messages, llm.Message{Role: llm.System, Content: system})
	}
	for i, m := range r.Messages {
		if a.Messages, err = m.appendTo(a.Messages); err != nil {
			return nil, invalid(fmt.Sprintf("messages.%d: %v", i, err))
		}
	}
	if len(r.Messages) == 0 {
		return nil, invalid("messages: at least one is needed")
	}
	for i, t := range r.Tools {
		if t.Type != "" && t.Type != "custom" || t.Name == "" {
			return nil, invalid(fmt.Sprintf("tools.%d: only custom tools with a name are known, and not the type %q", i, t.Type))
		}
		if err := a.addTool(t.Name, t.Description, t.InputSchema); err != nil {
			return nil, invalid(fmt.Sprintf("tools.%d.input_schema: %v", i, err))
		}
	}
	return a, nil
}

// appendTo appends the message, whose tool results become messages of their own before its text.
func (m blockMessage) appendTo(all []llm.Message) ([]llm.Message, error) {
	role, err := roleOf(m.Role)
	if err != nil {
		return nil, err
	}
	own := llm.Message{Role: role}
	var texts []string
	for i, b := range m.Content {
		switch {
		case b.Type == "text":
			texts = append(texts, b.Text)
		case b.Type == "thinking", b.Type == "redacted_thinking": // which a model is not told again
		case b.Type == "tool_use" && m.Role == llm.Assistant && b.ID != "" && b.Name != "":
			own.Calls = append(own.Calls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case b.Type == "tool_result" && m.Role == llm.User && b.ToolUseID != "":
			text, err := b.result()
			if err != nil {
				return nil, fmt.Errorf("content.%d: %w", i, err)
			}
			if b.IsError {
				text = "error: " + text
			}
			all = append(all, llm.Message{Role: llm.ToolResult, CallID: b.ToolUseID, Content: text})
		default:
			return nil, fmt.Errorf("content.%d: %w", i, b.unknown())
		}
	}
	if own.Content = strings.Join(texts, "\n"); own.Content == "" && len(own.Calls) == 0 && len(m.Content) > 0 {
		return all, nil // nothing but results, or thinking
	}
	return append(all, own), nil
}

// message is the answer with a content, as far as its usage is known.
func (a answer) message(content ...fields) fields {
	return fields{"id": "msg_" + a.id, "type": "message", "role": llm.Assistant, "model": a.model,
		"content":     append([]fields{}, content...), // [] in JSON, not null
		"stop_reason": nil, "stop_sequence": nil, "usage": a.blockUsage()}
}

// blockUsage counts tokens as Anthropic does, where input tokens are those that no cache had.
func (a answer) blockUsage() fields {
	u := a.usage
	return fields{"input_tokens": u.PromptTokens - u.CachedTokens, "cache_creation_input_tokens": 0,
		"cache_read_input_tokens": u.CachedTokens, "output_tokens": u.CompletionTokens}
}

func (messages) whole(a answer) any {
	var content []fields
	if a.text != "" || len(a.calls) == 0 {
		content = append(content, fields{"type": "text", "text": a.text})
	}
	for _, c := range a.calls {
		content = append(content, fields{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object(c.Arguments)})
	}
	m := a.message(content...)
	m["stop_reason"] = a.stopReason()
	return m
}

// stopReason is the ending in Anthropic's words.
func (a answer) stopReason() string {
	return []string{"end_turn", "max_tokens", "tool_use", "refusal"}[a.ending]
}

// alive begins the stream, whose usage is only known at its end, and then pings.
func (messages) alive(s *stream, a answer, first bool) {
	if first {
		s.event("message_start", fields{"type": "message_start", "message": a.message()})
	}
	s.raw("ping", `{"type":"ping"}`)
}

func (messages) events(s *stream, a answer, alive bool) {
	if !alive {
		m := a.message()
		m["usage"].(fields)["output_tokens"] = 0
		s.event("message_start", fields{"type": "message_start", "message": m})
	}
	n := 0
	block := func(begin fields, kind, field, text string) {
		s.event("content_block_start", fields{"type": "content_block_start", "index": n, "content_block": begin})
		s.event("content_block_delta",
			fields{"type": "content_block_delta", "index": n, "delta": fields{"type": kind, field: text}})
		s.event("content_block_stop", fields{"type": "content_block_stop", "index": n})
		n++
	}
	if a.text != "" || len(a.calls) == 0 {
		block(fields{"type": "text", "text": ""}, "text_delta", "text", a.text)
	}
	for _, c := range a.calls {
		block(fields{"type": "tool_use", "id": c.ID, "name": c.Name, "input": fields{}}, "input_json_delta", "partial_json",
			string(object(c.Arguments)))
	}
	s.event("message_delta", fields{"type": "message_delta", "usage": a.blockUsage(),
		"delta": fields{"stop_reason": a.stopReason(), "stop_sequence": nil}})
	s.raw("message_stop", `{"type":"message_stop"}`)
}

func (messages) broken(s *stream, f *failure) { s.raw("error", string(f.body())) }
