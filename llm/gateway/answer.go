package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// How an answer ended.
type ending int

const (
	ended    ending = iota // the model was done
	cut                    // at max_tokens
	calling                // with calls of tools
	filtered               // the endpoint withheld the rest
)

// An answer is a reply in neither dialect.
type answer struct {
	id, model string
	text      string
	calls     []llm.ToolCall
	ending    ending
	usage     llm.Usage
	withUsage bool
}

// begun returns what is known of the answer of c before it came. IDs follow from the request, so that a session that is
// made again sees the same, and asks for the same.
func (s *Session) begun(c *call) answer {
	return answer{id: fmt.Sprintf("%x-%d", c.key[:8], c.number), model: s.cfg.Model}
}

// answerOf returns the answer to a that c brought.
func (s *Session) answerOf(a *ask, c *call) answer {
	ans := s.begun(c)
	ans.text, ans.withUsage, ans.usage = c.reply.Text, a.usage, usageOf(a.Request, c.reply)
	for i, call := range c.reply.Calls {
		call.ID = cmp.Or(call.ID, fmt.Sprintf("call_%x_%d_%d", c.key[:4], c.number, i))
		ans.calls = append(ans.calls, call)
	}
	if a.single && len(ans.calls) > 1 {
		ans.calls = ans.calls[:1]
	}
	finish := ""
	if n := len(c.reply.Attempts); n > 0 {
		finish = c.reply.Attempts[n-1].FinishReason
	}
	switch {
	case finish == "length":
		ans.ending = cut
	case len(ans.calls) > 0:
		ans.ending = calling
	case finish == "content_filter":
		ans.ending = filtered
	}
	return ans
}

// usageOf returns the usage of the attempt that brought reply: the server's count, or an estimate if it sent none.
func usageOf(req llm.Request, reply llm.Reply) llm.Usage {
	streamed := 0
	if n := len(reply.Attempts); n > 0 {
		last := reply.Attempts[n-1]
		if last.Usage != nil {
			return last.Usage.Clean()
		}
		streamed = last.Streamed
	}
	written := len(reply.Text) + len(reply.Reasoning)
	for _, c := range reply.Calls {
		written += len(c.Name) + len(c.Arguments)
	}
	return llm.Usage{PromptTokens: tokensOf(req), CompletionTokens: max(streamed, quarter(written))}
}

// tokensOf estimates the tokens of req's prompt: one for each four bytes of the upper bound.
func tokensOf(req llm.Request) int { return quarter(llm.PromptTokens(req)) }

func quarter(bytes int) int { return (bytes + 3) / 4 }

// object returns the arguments of a call as the object that they should be, or else as the one field of another.
func object(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) == nil && fields != nil {
		return json.RawMessage(arguments)
	}
	wrapped, _ := json.Marshal(map[string]string{"arguments": arguments}) // strings always encode
	return wrapped
}

// models is the list of models in a form that clients of both dialects read.
func (s *Session) models() any {
	return map[string]any{
		"object": "list", "data": []any{s.model()}, "has_more": false, "first_id": s.cfg.Model, "last_id": s.cfg.Model,
	}
}

func (s *Session) model() any {
	return map[string]any{
		"id": s.cfg.Model, "object": "model", "created": created, "owned_by": "gateway",
		"type": "model", "display_name": s.cfg.Model, "created_at": "2023-11-14T22:13:20Z",
	}
}
