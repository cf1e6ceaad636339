package llmtest_test

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

const (
	fTool  = `{"type":"function","function":{"name":"f","description":"D.","parameters":{"type":"object"}}}`
	fCall  = `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`
	called = `{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[` + fCall + `]}`
	result = `{"role":"tool","tool_call_id":"a","content":"r"}`
)

// What OpenAI refuses of tools, their calls and the results is refused, and all else is read.
func TestToolsAreChecked(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{})
	defer srv.Close()
	for _, tt := range []struct {
		reason, messages, tools string
		status                  int
		says                    string
	}{
		{"a call and its result", called + "," + result, fTool, 200, ""},
		{"no tools beside them", called + "," + result, "", 200, ""},
		{"a call without its result", called, fTool, 400, "must be followed by tool messages"},
		{"a call that is passed over", called + `,{"role":"user","content":"well?"},` + result, fTool, 400,
			"none responds to a"},
		{"a result of no call", `{"role":"user","content":"hi"},` + result, fTool, 400,
			"must be a response to a preceding message"},
		{"a result that comes twice", called + "," + result + "," + result, fTool, 400, "must be a response"},
		{"a call of the user", strings.Replace(called, "assistant", "user", 1) + "," + result, fTool, 400,
			`of the role \"user\"`},
		{"two calls with one ID", strings.Replace(called, fCall, fCall+","+fCall, 1) + "," + result, fTool, 400,
			`has the call \"a\"`},
		{"a call without an ID", strings.Replace(called, `"id":"a",`, "", 1), fTool, 400, `has the call \"\"`},
		{"a call of another type", strings.Replace(called, "function", "custom", 1), fTool, 400,
			`a tool call of the type \"custom\"`},
		{"a name with a blank", called + "," + result, strings.Replace(fTool, `"f"`, `"f g"`, 1), 400, "the tool name"},
		{"a tool of another type", called + "," + result, strings.Replace(fTool, "function", "web_search", 1), 400,
			`a tool of the type \"web_search\"`},
		{"parameters that are a list", called + "," + result, strings.Replace(fTool, `{"type":"object"}`, "[]", 1), 400,
			"are no object"},
	} {
		resp, text := post(t, srv, "", `{"model":"m","messages":[`+tt.messages+`],"tools":[`+tt.tools+`]}`)
		if resp.StatusCode != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s: %d %s", tt.reason, resp.StatusCode, text)
		}
	}
}

// Calls come in OpenAI's form, whole and in pieces, and count as tokens.
func TestCallsInAnswers(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(llmtest.Request) string { return "" },
		Calls: func(llmtest.Request) []llm.ToolCall {
			return []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":12345}`}}
		},
	})
	defer srv.Close()
	const body = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[` + fTool + `]`
	_, whole := post(t, srv, "", body+"}")
	for _, want := range []string{
		`"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":12345}"}}]}`,
		`"finish_reason":"tool_calls"`, `"completion_tokens":3,`, // 12 bytes
		`"prompt_tokens":6,`, // 2 bytes, and the 20 of the tool
	} {
		if !strings.Contains(whole, want) {
			t.Errorf("whole: %s\nwant %s", whole, want)
		}
	}
	_, stream := post(t, srv, "", body+`,"stream":true,"stream_options":{"include_usage":true}}`)
	at := 0
	for _, want := range []string{
		`"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]`,
		`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]`, `"arguments":":123"`, `"arguments":"45}"`,
		`"finish_reason":"tool_calls"`, `"completion_tokens":3,`, "[DONE]",
	} {
		i := strings.Index(stream[at:], want)
		if i < 0 {
			t.Fatalf("streamed: no %s in %s", want, stream[at:])
		}
		at += i
	}
	if _, text := post(t, srv, "", strings.Replace(body, ","+`"tools":[`+fTool+`]`, "", 1)+"}"); strings.Contains(text,
		"tool_calls") {
		t.Errorf("calls although there are no tools: %s", text)
	}
}
