package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// An answer is the readable part of a reply's body.
type answer struct {
	text      string
	reasoning string
	calls     []llm.ToolCall
	finish    string
	usage     *llm.Usage
	excess    bool // whether usage was cut already
	streamed  int  // completion tokens seen; 0 unless streamed
}

// completion holds those fields of a chat completion that are read here. Inessential ones stay raw, so that a surprise
// in them does not spoil an answer.
type completion struct {
	Choices json.RawMessage `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// A wholeChoice is a choice that is not streamed.
type wholeChoice struct {
	FinishReason looseString `json:"finish_reason"`
	Message      struct {
		Content          *string         `json:"content"`
		ReasoningContent json.RawMessage `json:"reasoning_content"`
		Reasoning        json.RawMessage `json:"reasoning"`
		Calls            rawJSON         `json:"tool_calls"`
	} `json:"message"`
}

// only returns the first of the choices, of which one was requested. exists is false if there is none.
func (c *completion) only() (choice wholeChoice, exists bool, err error) {
	if len(c.Choices) == 0 {
		return choice, false, nil
	}
	list, err := firstOf[wholeChoice](c.Choices, 1)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong.Field = strings.TrimSuffix("choices."+wrong.Field, ".")
	}
	if len(list) == 0 {
		return choice, false, err
	}
	return list[0], true, err
}

// A brokenReply is the reason why a body with a success status holds no usable answer.
type brokenReply struct {
	why  string
	body []byte // to quote from; nil if that would not help
	// failure marks a body that is an error object under a wrong status.
	failure bool
}

func (e *brokenReply) Error() string { return e.why }

// decode reads a body with status 2xx, and the calls in it if there were tools. Even with an error the answer holds the
// readable part, since its tokens were paid for.
func decode(body []byte, tools bool) (answer, *brokenReply) {
	var c completion
	err := json.Unmarshal(body, &c)
	ans := answer{usage: parseUsage(c.Usage)}
	choice, exists, wrong := c.only()
	switch {
	case err != nil || wrong != nil:
		return ans, notJSON(body, cmp.Or(err, wrong))
	case !exists:
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return ans, &brokenReply{"an error under a success status", body, true}
		}
		return ans, &brokenReply{why: "no choices", body: body}
	}
	ans.finish = string(choice.FinishReason)
	ans.reasoning = firstText(choice.Message.ReasoningContent, choice.Message.Reasoning)
	if tools {
		var list callList
		broken := list.add(choice.Message.Calls)
		if broken == nil {
			ans.calls, broken = list.calls()
		}
		if broken != nil {
			return ans, broken
		}
	}
	switch content := choice.Message.Content; {
	case len(ans.calls) > 0:
		ans.text = value(content)
	case content == nil:
		return ans, &brokenReply{why: fmt.Sprintf("no content, finish reason %q", ans.finish)}
	case ans.finish != "stop" && strings.TrimSpace(*content) == "":
		return ans, &brokenReply{why: fmt.Sprintf("empty content, finish reason %q", ans.finish)}
	default:
		ans.text = *content
	}
	return ans, nil
}

// value returns what s points to, and "" for nil.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// firstText returns the first of the values that is a nonempty JSON string.
func firstText(values ...json.RawMessage) string {
	for _, raw := range values {
		var s string
		if len(raw) > 0 && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// notJSON returns the reason for a body that is not a completion.
func notJSON(body []byte, err error) *brokenReply {
	trimmed := bytes.TrimSpace(body)
	wrong, isWrong := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case len(trimmed) == 0:
		return &brokenReply{why: "an empty body"}
	case trimmed[0] == '<':
		return &brokenReply{why: "an HTML page instead of JSON", body: body}
	case isWrong:
		why := fmt.Sprintf("wrong-typed JSON, %s is a %s", cmp.Or(wrong.Field, "the body"), wrong.Value)
		return &brokenReply{why: why, body: body}
	}
	return &brokenReply{why: fmt.Sprintf("malformed JSON, %v", err), body: body}
}
