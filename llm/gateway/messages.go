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
	Stops       textList       `json:"stop_sequences"`
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
	a := &ask{stream: r.Stream, stops: r.Stops}
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
	conversation := len(r.Messages) > 0
	for i, m := range r.Messages {
		if a.Messages, err = m.appendTo(a.Messages); err != nil {
			return nil, invalid(fmt.Sprintf("messages.%d: %v", i, err))
		}
	}
	if !conversation {
		return nil, invalid("messages: at least one is needed")
	}
	for i, t := range r.Tools {
		if t.Type != "" && t.Type != "custom" || t.Name == "" {
			return nil, invalid(fmt.Sprintf("tools.%d: only custom tools with a name are known, and not the type %q", i, t.Type))
		}
		parameters, err := schema(t.InputSchema)
		if err != nil {
			return nil, invalid(fmt.Sprintf("tools.%d.input_schema: %v", i, err))
		}
		a.Tools = append(a.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: parameters})
	}
	return a, nil
}

// appendTo appends the message, whose tool results become messages of their own before its text.
func (m blockMessage) appendTo(all []llm.Message) ([]llm.Message, error) {
	if m.Role != llm.User && m.Role != llm.Assistant && m.Role != llm.System {
		return nil, fmt.Errorf("the role %q is not known", m.Role)
	}
	own := llm.Message{Role: m.Role}
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

// The form of answers.
type (
	message struct {
		ID           string  `json:"id"`
		Type         string  `json:"type"`
		Role         string  `json:"role"`
		Model        string  `json:"model"`
		Content      []any   `json:"content"`
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
		Usage        usage   `json:"usage"`
	}
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	toolBlock struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	usage struct {
		Input   int `json:"input_tokens"`
		Created int `json:"cache_creation_input_tokens"`
		Read    int `json:"cache_read_input_tokens"`
		Output  int `json:"output_tokens"`
	}
)

func (a answer) message() message {
	return message{ID: "msg_" + a.id, Type: "message", Role: llm.Assistant, Model: a.model, Content: []any{}}
}

// usage counts tokens as Anthropic does, where input tokens are those that no cache had.
func (a answer) blockUsage() usage {
	u := a.usage
	return usage{Input: u.PromptTokens - u.CachedTokens, Read: u.CachedTokens, Output: u.CompletionTokens}
}

func (messages) whole(a answer) any {
	m := a.message()
	m.Usage = a.blockUsage()
	m.StopReason, m.StopSequence = a.stopReason()
	if a.text != "" || len(a.calls) == 0 {
		m.Content = append(m.Content, textBlock{"text", a.text})
	}
	for _, c := range a.calls {
		m.Content = append(m.Content, toolBlock{"tool_use", c.ID, c.Name, object(c.Arguments)})
	}
	return m
}

// stopReason is the ending in Anthropic's words, and the stop text if there was one.
func (a answer) stopReason() (reason, sequence *string) {
	why := [...]string{"end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"}[a.ending]
	if a.ending == stopped {
		sequence = &a.stop
	}
	return &why, sequence
}

// alive begins the stream, whose usage is only known at its end, and then pings.
func (messages) alive(s *stream, a answer, first bool) {
	if first {
		start(s, a.message())
	}
	s.raw("ping", `{"type":"ping"}`)
}

func start(s *stream, m message) {
	s.event("message_start", map[string]any{"type": "message_start", "message": m})
}

func (messages) events(s *stream, a answer, alive bool) {
	if !alive {
		m := a.message()
		m.Usage = a.blockUsage()
		m.Usage.Output = 0
		start(s, m)
	}
	n := 0
	block := func(begin any, kind, field, text string) {
		s.event("content_block_start", map[string]any{"type": "content_block_start", "index": n, "content_block": begin})
		for _, piece := range pieces(text) {
			s.event("content_block_delta", map[string]any{
				"type": "content_block_delta", "index": n, "delta": map[string]string{"type": kind, field: piece},
			})
		}
		s.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": n})
		n++
	}
	if a.text != "" || len(a.calls) == 0 {
		block(textBlock{Type: "text"}, "text_delta", "text", a.text)
	}
	for _, c := range a.calls {
		begin := toolBlock{"tool_use", c.ID, c.Name, json.RawMessage("{}")}
		block(begin, "input_json_delta", "partial_json", string(object(c.Arguments)))
	}
	reason, sequence := a.stopReason()
	s.event("message_delta", map[string]any{
		"type": "message_delta", "usage": a.blockUsage(),
		"delta": map[string]*string{"stop_reason": reason, "stop_sequence": sequence},
	})
	s.raw("message_stop", `{"type":"message_stop"}`)
}

func (messages) broken(s *stream, f *failure) { s.raw("error", string(f.body())) }
