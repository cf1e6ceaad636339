package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// A conversation with two calls and their results passes a server that checks that each result answers a call, and has
// OpenAI's form.
func TestConversationsWithTools(t *testing.T) {
	for _, whole := range []bool{true, false} {
		var seen []llmtest.Request
		srv := serve(t, llmtest.Config{
			Reply: func(r llmtest.Request) string {
				seen = append(seen, r)
				return map[bool]string{true: "done"}[len(r.Messages) > 2]
			},
			Calls: func(r llmtest.Request) []llm.ToolCall {
				if len(r.Messages) > 2 {
					return nil
				}
				return twoCalls(r)
			},
		})
		c := open(t, srv.URL, openai.Config{Whole: whole})
		reply, err := c.Generate(t.Context(), asking)
		want := twoCalls(llmtest.Request{})
		if err != nil || reply.Text != "" || len(reply.Calls) != 2 || reply.Calls[0].Arguments != want[0].Arguments ||
			reply.Calls[1].Name != "list" || reply.Calls[0].ID == reply.Calls[1].ID {
			t.Fatalf("reply %+v, %v", reply, err)
		}
		if a := reply.Attempts[0]; a.FinishReason != "tool_calls" || a.Capped ||
			a.Usage.CompletionTokens != llmtest.Tokens(want[0].Name+want[0].Arguments+want[1].Name+want[1].Arguments) {
			t.Errorf("attempt %+v, usage %+v", a, a.Usage)
		}
		next := asking
		next.Messages = append(next.Messages[:2:2], llm.Message{Role: llm.Assistant, Calls: reply.Calls},
			llm.Message{Role: llm.ToolResult, CallID: reply.Calls[1].ID, Content: "a b"},
			llm.Message{Role: llm.ToolResult, CallID: reply.Calls[0].ID, Content: "text"})
		if reply, err := c.Generate(t.Context(), next); err != nil || reply.Text != "done" || reply.Calls != nil {
			t.Errorf("reply %+v, %v", reply, err)
		}
		if diff := cmp.Diff(next.Messages, seen[1].Messages); diff != "" {
			t.Errorf("messages (-sent +received):\n%s", diff)
		}
		var sent, got []any
		for i := range next.Tools {
			sent, got = append(sent, schemaOf(next.Tools[i])), append(got, schemaOf(seen[1].Tools[i]))
		}
		if diff := cmp.Diff(sent, got); diff != "" {
			t.Errorf("tools (-sent +received):\n%s", diff)
		}
	}
}

// schemaOf is a tool with its schema parsed, since the order of names in it does not matter.
func schemaOf(t llm.Tool) any {
	var schema any
	json.Unmarshal([]byte(t.Parameters), &schema) // nil without parameters
	return []any{t.Name, t.Description, schema}
}

// called are the deltas of a stream, each the value of tool_calls, and the calls in them.
var called = []struct {
	reason string
	deltas []string
	want   []llm.ToolCall
	says   string // "" if they are usable
}{
	{"OpenAI's pieces", []string{
		`[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]`,
		`[{"index":0,"function":{"arguments":"{\"a\""}}]`, `[{"index":0,"function":{"arguments":":1}"}}]`,
		`[{"index":1,"id":"c2","type":"function","function":{"name":"list","arguments":""}}]`,
		`[{"index":1,"function":{"arguments":"{}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "read", Arguments: `{"a":1}`}, {ID: "c2", Name: "list", Arguments: "{}"}}, ""},
	{"pieces of two calls in turns", []string{
		`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}},{"index":1,"id":"c2","function":{"name":"g","arguments":"["}}]`,
		`[{"index":1,"function":{"arguments":"]"}}]`, `[{"index":0,"function":{"arguments":"}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "g", Arguments: "[]"}}, ""},
	{"whole calls, all as number 0, as Ollama sends them", []string{
		`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"s\":\"}\\\"\"}"}}]`,
		`[{"index":0,"id":"c2","function":{"name":"f","arguments":"{}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"s":"}\""}`}, {ID: "c2", Name: "f", Arguments: "{}"}}, ""},
	{"another ID with each piece", []string{
		`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}}]`,
		`[{"index":0,"id":"c2","function":{"name":"f","arguments":"{}}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"a":{}}`}}, ""},
	{"no index", []string{
		`[{"id":"c1","function":{"name":"f","arguments":"{"}}]`, `[{"function":{"arguments":"}"}}]`,
		`[{"id":"c2","function":{"name":"g","arguments":"{}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "g", Arguments: "{}"}}, ""},
	{"arguments that are an object, and none",
		[]string{`[{"id":"a","function":{"name":"f","arguments":{"x":1}}},{"id":"b","function":{"name":"g"}}]`},
		[]llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g"}}, ""},
	{"IDs that are missing, numbers, too long or there already", []string{
		`[{"function":{"name":"f"}},{"id":7,"function":{"name":"f"}},{"id":"` + strings.Repeat("x", 1000) +
			`","function":{"name":"f"}},` +
			`{"id":"a","function":{"name":"f"}},{"id":"a","function":{"name":"f"}},{"id":"\u001b[2J","function":{"name":"f"}}]`,
	}, []llm.ToolCall{{ID: "call_2_0", Name: "f"}, {ID: "call_2_1", Name: "f"}, {ID: "call_2_2", Name: "f"},
		{ID: "a", Name: "f"}, {ID: "call_2_4", Name: "f"}, {ID: "call_2_5", Name: "f"}}, ""},
	{"a name that a terminal obeys", []string{`[{"id":"a","function":{"name":"rm\u001b[2J\n` + strings.Repeat("x", 1000) +
		`"}}]`}, []llm.ToolCall{{ID: "a", Name: "rm " + strings.Repeat("x", 125) + "..."}}, ""},
	{"a name that is empty", []string{`[{"id":"a","function":{"name":"","arguments":"{}"}}]`}, nil,
		"a tool call has no name"},
	{"a hundred thousand calls", []string{"[" + strings.Repeat(`{"id":"a","function":{"name":"f"}},`, 1e5) + "{}]"}, nil,
		"more than 128 tool calls"},
	{"a call that is a number", []string{`[7]`}, nil, "a tool call has no name"},
}

func TestCallsInPieces(t *testing.T) {
	for _, tt := range called {
		var parts []string
		for _, d := range tt.deltas {
			parts = append(parts, delta(`"tool_calls":`+d))
		}
		parts = append(parts, `data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`+"\n\n", done)
		w := newWire(t, 200, http.Header{"Content-Type": {"text/event-stream"}}, parts...)
		reply, err := open(t, w.URL, openai.Config{}).Generate(t.Context(), asking)
		if tt.says != "" {
			checkMessage(t, err, w.URL, tt.says)
			continue
		}
		if diff := cmp.Diff(tt.want, reply.Calls); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.reason, err, diff)
		}
	}
}
