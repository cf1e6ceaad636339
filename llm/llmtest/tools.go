package llmtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// The protocol's form of calls of tools, in requests, answers and pieces of streams.
type wireCall struct {
	Index    *int         `json:"index,omitempty"` // in streams
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// wireMessage is a message of a request.
type wireMessage struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []wireCall `json:"tool_calls"`
	CallID  string     `json:"tool_call_id"`
}

// wireTool is a tool of a request.
type wireTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// UnmarshalJSON reads a request in the protocol's form.
func (r *Request) UnmarshalJSON(body []byte) error {
	type fields Request // without this method
	w := struct {
		*fields
		Messages []wireMessage `json:"messages"`
		Tools    []wireTool    `json:"tools"`
	}{fields: (*fields)(r)}
	if err := json.Unmarshal(body, &w); err != nil {
		return err
	}
	json.Unmarshal(body, &r.fields) // as well formed
	r.Messages, r.Tools = nil, nil
	for _, m := range w.Messages {
		message := llm.Message{Role: m.Role, Content: m.Content, CallID: m.CallID}
		for _, c := range m.Calls {
			if c.Type != "function" {
				return fmt.Errorf("a tool call of the type %q", c.Type)
			}
			message.Calls = append(message.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, message)
	}
	for _, t := range w.Tools {
		if t.Type != "function" {
			return fmt.Errorf("a tool of the type %q", t.Type)
		}
		f := t.Function
		r.Tools = append(r.Tools, llm.Tool{Name: f.Name, Description: f.Description, Parameters: string(f.Parameters)})
	}
	return nil
}

// toolName is what OpenAI accepts as the name of a tool.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkTools returns why OpenAI would refuse the tools of r, their calls, or the results: each call of a message must
// be answered by the messages right after it, and each result must answer one.
func checkTools(r llm.Request) error {
	for _, t := range r.Tools {
		var schema map[string]any
		switch {
		case !toolName.MatchString(t.Name):
			return fmt.Errorf("the tool name %q does not match %v", t.Name, toolName)
		case t.Parameters != "" && json.Unmarshal([]byte(t.Parameters), &schema) != nil:
			return fmt.Errorf("the parameters of the tool %q are no object", t.Name)
		}
	}
	var open []string // IDs of the calls without a result yet
	for i, m := range r.Messages {
		if m.Role == llm.ToolResult {
			at := index(open, m.CallID)
			if at < 0 {
				return fmt.Errorf("messages with role 'tool' must be a response to a preceding message with 'tool_calls': "+
					"message %d answers %q", i, m.CallID)
			}
			open = append(open[:at:at], open[at+1:]...)
			continue
		}
		if len(open) > 0 {
			break
		}
		for _, c := range m.Calls {
			if m.Role != llm.Assistant || c.ID == "" || index(open, c.ID) >= 0 || !toolName.MatchString(c.Name) {
				return fmt.Errorf("message %d, of the role %q, has the call %q of %q", i, m.Role, c.ID, c.Name)
			}
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages responding to each "+
			"'tool_call_id': none responds to %s", strings.Join(open, ", "))
	}
	return nil
}

func index(ids []string, id string) int {
	for i := range ids {
		if ids[i] == id {
			return i
		}
	}
	return -1
}

// calls returns the calls of the answer to req, with IDs unless f leaves them out.
func (s *Server) calls(req Request, f Fault) (calls []llm.ToolCall) {
	if len(req.Tools) == 0 {
		return nil
	}
	calls = append(calls, s.cfg.Calls(req)...)
	for i := range calls {
		switch {
		case f == noCallIDs:
			calls[i].ID = ""
		case calls[i].ID == "":
			calls[i].ID = fmt.Sprintf("call_%016x_%d_%d", req.digest, req.Occurrence, i)
		}
	}
	return calls
}

// written is what the model wrote for calls, and paid for.
func written(calls []llm.ToolCall) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Name)
		b.WriteString(c.Arguments)
	}
	return b.String()
}

// halve cuts the answer where half of its tokens are spent: within its text, or within the arguments of its last call.
func (c *content) halve() {
	c.finish = "length"
	if n := len(c.calls); n > 0 {
		last := &c.calls[n-1]
		last.Arguments = last.Arguments[:len(last.Arguments)/2]
		return
	}
	c.text = c.text[:len(c.text)/2]
}

// said is the content of the message, which is null if there are only calls.
func (c content) said() *string {
	if c.text == "" && len(c.calls) > 0 {
		return nil
	}
	return &c.text
}

func wireCalls(calls []llm.ToolCall) (wire []wireCall) {
	for _, c := range calls {
		wire = append(wire, wireCall{ID: c.ID, Type: "function", Function: wireFunction{c.Name, c.Arguments}})
	}
	return wire
}

// pieces cuts calls into the pieces of a stream: the name and then the arguments, a token each.
func pieces(calls []llm.ToolCall) (wire []wireCall) {
	for i, c := range calls {
		wire = append(wire, wireCall{Index: &i, ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name}})
		for _, token := range tokens(c.Arguments) {
			wire = append(wire, wireCall{Index: &i, Function: wireFunction{Arguments: token}})
		}
	}
	return wire
}
