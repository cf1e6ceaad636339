package llmtest

import (
	"encoding/json"
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
)

// A content is the answer to a request, and its usage.
type content struct {
	id, model       string
	reasoning, text string
	calls           []llm.ToolCall
	finish          string
	usage           Usage
}

// compose makes the answer to req, cut by f if that is a fault of length.
func (s *Server) compose(req Request, f Fault) content {
	c := content{
		id: fmt.Sprintf("chatcmpl-%016x-%d", req.digest, req.Occurrence), model: req.Model,
		reasoning: s.cfg.Reasoning(req), text: s.cfg.Reply(req), finish: "stop",
	}
	if c.calls = s.calls(req, f); len(c.calls) > 0 {
		c.finish = "tool_calls"
	}
	switch f {
	case length:
		c.halve()
	case emptyLength:
		c.text, c.calls, c.finish = "", nil, "length"
	case filtered:
		c.text, c.calls, c.finish = "", nil, "content_filter"
	case declined:
		c.text, c.calls = "", nil
	case unaskedCall:
		c.text, c.calls, c.finish = "", []llm.ToolCall{{ID: "call_0", Name: "read", Arguments: "{}"}}, "tool_calls"
	case inReasoning:
		c.reasoning, c.text, c.calls, c.finish = c.reasoning+c.text, "", nil, "stop"
	case otherModel:
		c.model = "another"
	}
	c.usage = s.cfg.Usage(req, c.reasoning+c.text+written(c.calls))
	if f == emptyLength { // the tokens were spent nevertheless
		c.usage.CompletionTokens += block
	}
	if s.cache != nil {
		c.usage.CachedTokens = s.cache.serve(req)
	}
	s.meter.used(c.usage)
	return c
}

// The wire form of a chat completion and of a chunk of one.
type completion struct {
	ID      string     `json:"id"`
	Object  string     `json:"object"`
	Created int64      `json:"created"`
	Model   string     `json:"model"`
	Choices []choice   `json:"choices"`
	Usage   *wireUsage `json:"usage,omitempty"`
}

type choice struct {
	Index        int      `json:"index"`
	Message      *message `json:"message,omitempty"`
	Delta        *message `json:"delta,omitempty"`
	FinishReason *string  `json:"finish_reason"`
}

type message struct {
	Role      string     `json:"role,omitempty"`
	Content   any        `json:"content"` // a *string, or parts
	Reasoning string     `json:"reasoning_content,omitempty"`
	Refusal   string     `json:"refusal,omitempty"`
	Calls     []wireCall `json:"tool_calls,omitempty"`
}

type wireUsage struct {
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	Total      int     `json:"total_tokens"`
	Details    details `json:"prompt_tokens_details"`
}

type details struct {
	Cached int `json:"cached_tokens"`
}

// created is the time of every answer, so that equal requests get equal bodies.
const created = 1_700_000_000

// Bodies that do not depend on the request.
const (
	loginPage = "<!doctype html>\n<html><head><title>Sign in</title></head>\n" +
		"<body>Please sign in to go on.</body></html>"
	wrongTypedBody = `{"id": "chatcmpl-0", "object": "chat.completion", "choices": "none"}`
	errorBody      = `{"error": {"message": "Upstream provider failed", "code": 502}}`
	errorChoice    = `{"choices": [{"error": {"message": "Upstream provider failed", "code": 502}, "finish_reason": "error"}]}`
)

// body is the answer in one piece, corrupted by f.
func (c content) body(f Fault) []byte {
	switch f {
	case wrongTyped:
		return []byte(wrongTypedBody)
	case errorInStream, errorField, errorLine:
		return []byte(errorBody)
	case errorInChoice:
		return []byte(errorChoice)
	}
	m := &message{Role: "assistant", Content: c.said(), Reasoning: c.reasoning, Calls: wireCalls(c.calls)}
	finish := &c.finish
	switch f {
	case nullContent:
		m.Content, m.Calls = nil, nil
	case asParts:
		m.Content = parts(c.text)
	case declined:
		m.Refusal = declinedText
	case noFinish:
		finish = nil
	}
	w := c.wire("chat.completion", choice{Message: m, FinishReason: finish})
	if f == noChoices {
		w.Choices = []choice{}
	}
	w.Usage = wireOf(c.usage, f)
	body := encode(w)
	switch f {
	case wrongUsage:
		return wrongUsageIn(body)
	case malformed, endEarly:
		return body[:len(body)/2]
	}
	return body
}

// declinedText is what the model says under the fault refusal.
const declinedText = "I can't help with that."

// parts returns text as a list of parts, after one of thinking with a program that is not the answer.
func parts(text string) any {
	type part map[string]any
	return []part{{"type": "thinking", "thinking": []part{{"type": "text", "text": "```\nno\n```"}}},
		{"type": "text", "text": text}}
}

// wire returns a completion or a chunk with the given choices.
func (c content) wire(object string, choices ...choice) completion {
	if choices == nil {
		choices = []choice{} // [] in JSON, not null
	}
	return completion{ID: c.id, Object: object, Created: created, Model: c.model, Choices: choices}
}

func encode(c completion) []byte {
	body, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("llmtest: encoding a completion: %v", err)) // no field can fail to encode
	}
	return body
}

// wrongUsageIn replaces the usage of a completion or a chunk by words.
func wrongUsageIn(body []byte) []byte {
	var c map[string]json.RawMessage
	if err := json.Unmarshal(body, &c); err != nil {
		panic(fmt.Sprintf("llmtest: a completion of its own: %v", err))
	}
	c["usage"] = json.RawMessage(`{"prompt_tokens":"many","completion_tokens":"some"}`)
	body, _ = json.Marshal(c) // raw JSON that was just decoded
	return body
}
