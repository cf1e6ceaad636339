package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/evoalloc/evoalloc/llm"
)

// responses is OpenAI's newer dialect: POST /v1/responses. Nothing is stored between requests. The types of openai-go
// cannot read what clients send in it, such as the model's own text without an ID.
type responses struct{ chat }

var _ dialect = responses{}

type responsesRequest struct {
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
	ToolChoice  any      `json:"tool_choice"`
	Parallel    *bool    `json:"parallel_tool_calls"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	MaxTokens   *int     `json:"max_output_tokens"`
	Previous    *string  `json:"previous_response_id"`
	Background  bool     `json:"background"`
	Stream      bool     `json:"stream"`
	Text        struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
}

// An inputItem is a message, or a call of a function or its result.
type inputItem struct {
	Type      string  `json:"type"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Output    content `json:"output"`
}

func (responses) parse(body []byte) (*ask, error) {
	var r responsesRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	switch {
	case r.Previous != nil || r.Background:
		return nil, invalid("previous_response_id, background: responses are not stored here")
	case r.ToolChoice != nil && r.ToolChoice != "auto":
		return nil, invalid(`tool_choice: only "auto" can be had`)
	case r.Text.Format.Type != "" && r.Text.Format.Type != "text":
		return nil, invalid(`text.format: only "text" can be had`)
	}
	a := &ask{stream: r.Stream, single: r.Parallel != nil && !*r.Parallel}
	a.Temperature, a.TopP, a.MaxTokens = r.Temperature, r.TopP, r.MaxTokens
	if r.Instructions != "" {
		a.Messages = append(a.Messages, llm.Message{Role: llm.System, Content: r.Instructions})
	}
	var items []inputItem
	if len(r.Input) > 0 && r.Input[0] == '"' {
		items = []inputItem{{Role: llm.User}}
		if err := decode(r.Input, &items[0].Content); err != nil {
			return nil, err
		}
	} else if err := decode(r.Input, &items); err != nil {
		return nil, err
	}
	for i, item := range items {
		if err := a.take(item); err != nil {
			return nil, invalid(fmt.Sprintf("input[%d]: %v", i, err))
		}
	}
	for i, t := range r.Tools {
		if t.Type != "function" {
			continue // the model is not told of tools that the provider runs, or that are not functions
		}
		if err := a.addTool(t.Name, t.Description, t.Parameters); err != nil || t.Name == "" {
			return nil, invalid(fmt.Sprintf("tools[%d]: need a name, and a JSON object as parameters", i))
		}
	}
	return a, nil
}

// take adds an item of the input to the conversation. Calls are those of the model's message before them.
func (a *ask) take(item inputItem) (err error) {
	var m llm.Message
	switch item.Type {
	case "reasoning": // which a model is not told again
		return nil
	case "function_call":
		if item.CallID == "" || item.Name == "" {
			return errors.New("need a call_id and a name")
		}
		if n := len(a.Messages); n == 0 || a.Messages[n-1].Role != llm.Assistant {
			a.Messages = append(a.Messages, llm.Message{Role: llm.Assistant})
		}
		last := &a.Messages[len(a.Messages)-1]
		last.Calls = append(last.Calls, llm.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
		return nil
	case "function_call_output":
		if item.CallID == "" {
			return errors.New("need a call_id")
		}
		m.Role, m.CallID = llm.ToolResult, item.CallID
		item.Content = item.Output
	case "", "message":
		if m.Role, err = roleOf(item.Role); err != nil {
			return err
		}
	default:
		return block{Type: item.Type}.unknown()
	}
	m.Content, err = item.Content.text()
	a.Messages = append(a.Messages, m)
	return err
}

// response is the answer in a state, with the items of its output.
func (a answer) response(status string, output []fields) fields {
	r := fields{"id": "resp_" + a.id, "object": "response", "created_at": created, "model": a.model,
		"status": status, "output": output, "error": nil, "incomplete_details": nil, "parallel_tool_calls": true,
		"tool_choice": "auto", "tools": []any{}}
	switch {
	case status != "completed":
		return r
	case a.ending == cut:
		r["status"], r["incomplete_details"] = "incomplete", fields{"reason": "max_output_tokens"}
	case a.ending == filtered:
		r["status"], r["incomplete_details"] = "incomplete", fields{"reason": "content_filter"}
	}
	u := a.usage
	r["usage"] = fields{"input_tokens": u.PromptTokens, "input_tokens_details": fields{"cached_tokens": u.CachedTokens},
		"output_tokens": u.CompletionTokens, "output_tokens_details": fields{"reasoning_tokens": 0},
		"total_tokens": u.PromptTokens + u.CompletionTokens}
	return r
}

func outputText(text string) fields {
	return fields{"type": "output_text", "text": text, "annotations": []any{}}
}

// items returns the output.
func (a answer) items() (output []fields) {
	if a.text != "" || len(a.calls) == 0 {
		output = []fields{{"type": "message", "id": "msg_" + a.id, "role": llm.Assistant, "status": "completed",
			"content": []any{outputText(a.text)}}}
	}
	for i, c := range a.calls {
		output = append(output, fields{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", a.id, i), "call_id": c.ID,
			"name": c.Name, "arguments": c.Arguments, "status": "completed"})
	}
	return output
}

func (responses) whole(a answer) any { return a.response("completed", a.items()) }

func (responses) alive(s *stream, a answer, first bool) {
	kind := "response.in_progress"
	if first {
		kind = "response.created"
	}
	s.numbered(kind, fields{"response": a.response("in_progress", []fields{})})
}

func (d responses) events(s *stream, a answer, alive bool) {
	if !alive {
		d.alive(s, a, true)
	}
	for at, item := range a.items() {
		kind, field, text, part := "response.output_text", "text", a.text, outputText("")
		if arguments, ok := item["arguments"].(string); ok {
			kind, field, text, part = "response.function_call_arguments", "arguments", arguments, nil
		}
		of := func(more fields) fields {
			more["item_id"], more["output_index"], more["content_index"] = item["id"], at, 0
			return more
		}
		begun := maps.Clone(item)
		if part == nil {
			begun["arguments"] = ""
		} else {
			begun["content"] = []any{}
		}
		s.numbered("response.output_item.added", fields{"output_index": at, "item": begun})
		if part != nil {
			s.numbered("response.content_part.added", of(fields{"part": part}))
		}
		s.numbered(kind+".delta", of(fields{"delta": text}))
		s.numbered(kind+".done", of(fields{field: text}))
		s.numbered("response.output_item.done", fields{"output_index": at, "item": item})
	}
	r := a.response("completed", a.items())
	s.numbered("response."+r["status"].(string), fields{"response": r})
}

func (responses) broken(s *stream, f *failure) {
	r := answer{}.response("failed", []fields{})
	r["error"] = fields{"code": f.code, "message": f.message}
	s.numbered("response.failed", fields{"response": r})
}

// numbered writes an event of a kind, with its number in the stream.
func (s *stream) numbered(kind string, data fields) {
	data["type"], data["sequence_number"] = kind, s.number
	s.number++
	s.event(kind, data)
}
