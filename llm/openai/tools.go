package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// The bounds of the calls of tools in one answer.
const (
	maxCalls  = 128 // calls
	maxCallID = 128 // bytes; a longer ID is replaced
	maxName   = 128 // runes of a tool's name
)

// A wireTool is a tool in the protocol's form.
type wireTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"` // absent means no parameters
	} `json:"function"`
}

// wireTools returns tools in the protocol's form.
func wireTools(tools []llm.Tool) (wire []wireTool, err error) {
	for _, t := range tools {
		schema := strings.TrimSpace(t.Parameters)
		switch {
		case t.Name == "":
			return nil, fmt.Errorf("a tool has no name")
		case schema != "" && (schema[0] != '{' || !json.Valid([]byte(schema))):
			return nil, fmt.Errorf("the parameters of the tool %q are not a JSON object: %s", t.Name,
				shorten(schema, maxExcerpt))
		}
		w := wireTool{Type: "function"}
		w.Function.Name, w.Function.Description, w.Function.Parameters = t.Name, t.Description, json.RawMessage(schema)
		wire = append(wire, w)
	}
	return wire, nil
}

// A wireMessage is a message in the protocol's form, which differs from [llm.Message] in its calls.
type wireMessage struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"` // null beside calls without text
	Calls   []wireCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// wireMessages returns messages as they are unless they have calls, and otherwise all in the protocol's form.
func wireMessages(messages []llm.Message) any {
	for _, m := range messages {
		if len(m.Calls) > 0 {
			return withCalls(messages)
		}
	}
	return messages
}

func withCalls(messages []llm.Message) (wire []wireMessage) {
	for _, m := range messages {
		w := wireMessage{Role: m.Role, Content: &m.Content, CallID: m.CallID}
		if m.Content == "" && len(m.Calls) > 0 {
			w.Content = nil
		}
		for _, c := range m.Calls {
			call := wireCall{ID: c.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
			w.Calls = append(w.Calls, call)
		}
		wire = append(wire, w)
	}
	return wire
}

// A callDelta is a call, or a piece of one in a stream.
type callDelta struct {
	Index    *int        `json:"index"` // some servers send none
	ID       looseString `json:"id"`
	Function struct {
		Name      looseString `json:"name"`
		Arguments arguments   `json:"arguments"`
	} `json:"function"`
}

// arguments are the text of a call's arguments. Some servers send the object itself.
type arguments string

// UnmarshalJSON gets well-formed JSON, as encoding/json guarantees.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '"':
		*a = arguments(unquote(raw))
	case '{':
		*a = arguments(raw)
	case 'n': // null
	default:
		return &json.UnmarshalTypeError{Value: kindOfJSON(raw), Field: "arguments"}
	}
	return nil
}

// A callList collects the calls of one answer.
type callList struct {
	parts []callPart
	size  int // bytes of all texts
}

type callPart struct {
	index     int // as the server counts; -1 if it does not
	id, name  string
	arguments []byte
	object    objectEnd // of the arguments
}

// An objectEnd follows a JSON object in pieces to its end, so that each byte is looked at once.
type objectEnd struct {
	depth           int
	quoted, escaped bool
	begun           bool
}

func (o *objectEnd) read(text string) {
	for i := range len(text) {
		switch b := text[i]; {
		case o.escaped:
			o.escaped = false
		case o.quoted:
			o.escaped, o.quoted = b == '\\', b != '"'
		case b == '"':
			o.quoted = true
		case b == '{' || b == '[':
			o.depth, o.begun = o.depth+1, true
		case b == '}' || b == ']':
			o.depth--
		}
	}
}

// complete reports whether the object has ended.
func (o *objectEnd) complete() bool { return o.begun && o.depth <= 0 && !o.quoted }

// add takes in the value of tool_calls in a message or a delta. It returns why it is unusable, or nil. It reads no
// further than the bounds allow.
func (l *callList) add(raw rawJSON) *brokenReply {
	if raw == "" {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return &brokenReply{why: "wrong-typed JSON, tool_calls is no list", body: []byte(raw)}
	}
	for dec.More() {
		var d callDelta
		if err := dec.Decode(&d); err != nil {
			return notJSON([]byte(raw), err)
		}
		if d.Index != nil && *d.Index < 0 {
			return &brokenReply{why: fmt.Sprintf("a tool call with the index %d", *d.Index)}
		}
		l.merge(d)
		if len(l.parts) > maxCalls {
			return &brokenReply{why: fmt.Sprintf("more than %d tool calls", maxCalls)}
		}
	}
	return nil
}

// merge adds d to the call that it continues, or as a new one.
func (l *callList) merge(d callDelta) {
	p := l.continued(d)
	if p == nil {
		l.parts = append(l.parts, callPart{index: -1})
		p = &l.parts[len(l.parts)-1]
		if d.Index != nil {
			p.index = *d.Index
		}
	}
	if p.id == "" {
		p.id = string(d.ID)
		l.size += len(p.id)
	}
	if p.name == "" {
		p.name = string(d.Function.Name)
		l.size += len(p.name)
	}
	p.arguments = append(p.arguments, d.Function.Arguments...)
	p.object.read(string(d.Function.Arguments))
	l.size += len(d.Function.Arguments)
}

// continued returns the call that d continues, or nil. Ollama counts all calls as number 0 and tells them apart by
// their IDs, while other servers send another ID with each piece: so a new ID with a name begins a call only if the
// arguments before it are complete. Without an index, only a delta without ID and name continues a call, the last one.
func (l *callList) continued(d callDelta) *callPart {
	for i := len(l.parts) - 1; i >= 0; i-- {
		p := &l.parts[i]
		switch {
		case d.Index == nil && (d.ID != "" || d.Function.Name != ""):
			return nil
		case d.Index != nil && *d.Index != p.index:
			continue
		case d.ID != "" && p.id != "" && string(d.ID) != p.id && d.Function.Name != "" && p.object.complete():
			return nil
		}
		return p
	}
	return nil
}

// calls returns the list as an answer has it, or why it is unusable. IDs are those of the server, and "" where it sent
// none that can be used.
func (l *callList) calls() (calls []llm.ToolCall, broken *brokenReply) {
	seen := make(map[string]bool)
	for i, p := range l.parts {
		name := shorten(printable.Line(p.name), maxName)
		if name == "" {
			return nil, &brokenReply{why: fmt.Sprintf("tool call %d has no name", i)}
		}
		if len(p.id) > maxCallID || printable.Line(p.id) != p.id || seen[p.id] {
			p.id = ""
		}
		seen[p.id] = true
		calls = append(calls, llm.ToolCall{ID: p.id, Name: name, Arguments: validText(bytes.TrimSpace(p.arguments))})
	}
	return calls, nil
}

// named gives each call without an ID one that no other call of the conversation has, and that a rerun gives too.
func named(calls []llm.ToolCall, messages int) []llm.ToolCall {
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("call_%d_%d", messages, i)
		}
	}
	return calls
}
