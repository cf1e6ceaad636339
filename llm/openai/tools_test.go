package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

var (
	readTool = llm.Tool{Name: "read", Description: "Reads a file.",
		Parameters: `{"type":"object","properties":{"path":{"type":"string"}}}`}
	listTool = llm.Tool{Name: "list"}
	asking   = llm.Request{Seed: 40, Tools: []llm.Tool{readTool, listTool},
		Messages: []llm.Message{{Role: llm.User, Content: "Read <a> & b."}}}
)

// twoCalls calls both tools, with arguments of many tokens in a stream.
func twoCalls(llmtest.Request) []llm.ToolCall {
	return []llm.ToolCall{{Name: "read", Arguments: `{"path":"` + strings.Repeat("dir/", 30) + `a.txt"}`},
		{Name: "list", Arguments: "{}"}}
}

func toolClient(t *testing.T, url string, whole bool) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{BaseURL: url, APIKey: secret, Model: model, Stream: patient, Whole: whole})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func modes(t *testing.T, f func(t *testing.T, whole bool)) {
	for name, whole := range map[string]bool{"streamed": false, "whole": true} {
		t.Run(name, func(t *testing.T) { f(t, whole) })
	}
}

// A conversation with two calls and their results passes a server that checks that each result answers a call.
func TestToolsOverTheWire(t *testing.T) {
	modes(t, func(t *testing.T, whole bool) {
		var seen []llmtest.Request
		srv := serve(t, llmtest.Config{
			Reply: func(r llmtest.Request) string {
				seen = append(seen, r)
				if len(r.Messages) > 1 {
					return "done"
				}
				return ""
			},
			Calls: func(r llmtest.Request) []llm.ToolCall {
				if len(r.Messages) > 1 {
					return nil
				}
				return twoCalls(r)
			},
		})
		c := toolClient(t, srv.URL, whole)
		reply, err := c.Generate(t.Context(), asking)
		want := twoCalls(llmtest.Request{})
		if err != nil || reply.Text != "" || len(reply.Calls) != 2 || reply.Calls[0].Arguments != want[0].Arguments ||
			reply.Calls[1].Name != "list" || reply.Calls[0].ID == reply.Calls[1].ID {
			t.Fatalf("reply %+v, %v", reply, err)
		}
		a := reply.Attempts[0]
		if a.FinishReason != "tool_calls" || a.Capped ||
			*a.Usage != llmtest.CountUsage(seen[0], want[0].Name+want[0].Arguments+want[1].Name+want[1].Arguments) {
			t.Errorf("attempt %+v, usage %+v", a, a.Usage)
		}
		if !whole && a.Streamed != a.Usage.CompletionTokens {
			t.Errorf("streamed %d of %d tokens", a.Streamed, a.Usage.CompletionTokens)
		}
		next := asking
		next.Messages = append(next.Messages[:1:1], llm.Message{Role: llm.Assistant, Calls: reply.Calls},
			llm.Message{Role: llm.ToolResult, CallID: reply.Calls[1].ID, Content: "a b"},
			llm.Message{Role: llm.ToolResult, CallID: reply.Calls[0].ID, Content: "text"})
		if reply, err := c.Generate(t.Context(), next); err != nil || reply.Text != "done" || reply.Calls != nil {
			t.Errorf("reply %+v, %v", reply, err)
		}
		got := seen[1].Request
		if diff := cmp.Diff(next.Messages, got.Messages); diff != "" {
			t.Errorf("messages (-sent +received):\n%s", diff)
		}
		if diff := cmp.Diff(next.Tools, got.Tools); diff != "" {
			t.Errorf("tools (-sent +received):\n%s", diff)
		}
		for reason, messages := range map[string][]llm.Message{
			"a call without its result": next.Messages[:3],
			"a result of no call":       append(next.Messages[:1:1], next.Messages[2]),
			"a result that comes twice": append(next.Messages[:4:4], next.Messages[3]),
			"text between call and result": {next.Messages[0], next.Messages[1], next.Messages[0], next.Messages[2],
				next.Messages[3]},
		} {
			req := next
			req.Messages = messages
			if _, err := c.Generate(t.Context(), req); err == nil || !strings.Contains(err.Error(), "400 Bad Request") {
				t.Errorf("%s: %v", reason, err)
			}
		}
	})
}

// Text may stand beside calls.
func TestTextBesideCalls(t *testing.T) {
	modes(t, func(t *testing.T, whole bool) {
		srv := serve(t, llmtest.Config{Reply: say("Let me look."), Calls: twoCalls})
		reply, err := toolClient(t, srv.URL, whole).Generate(t.Context(), asking)
		if err != nil || reply.Text != "Let me look." || len(reply.Calls) != 2 {
			t.Errorf("reply %+v, %v", reply, err)
		}
		bare := asking
		bare.Tools = nil
		if reply, err := toolClient(t, srv.URL, whole).Generate(t.Context(), bare); err != nil ||
			reply.Text != "Let me look." || reply.Calls != nil {
			t.Errorf("without tools: %+v, %v", reply, err)
		}
	})
}

// Faults that meet a request with tools. The middle of an answer is within the arguments of its first call.
func TestToolsUnderFaults(t *testing.T) {
	for _, tt := range []struct {
		fault, says string
		kind        string
		calls       int
	}{
		{"none", "", "", 2},
		{"no call ids", "", "", 2},
		{"no usage", "", "", 2},
		{"duplicate chunks", "", "", 2},
		{"length", "", "", 2},
		{"null content", "no content", llm.KindBrokenReply, 0},
		{"empty length", "empty content", llm.KindBrokenReply, 0},
		{"cut body", "the connection broke", llm.KindConnection, 0},
		{"no end", "", llm.KindBrokenReply, 0},
		{"malformed JSON", "malformed JSON", llm.KindBrokenReply, 0},
		{"400 tools", "does not support tools (the request has tools: use a model and a server with tool calling",
			llm.KindBadRequest, 0},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			modes(t, func(t *testing.T, whole bool) {
				srv := serve(t, llmtest.Config{Reply: say(""), Calls: twoCalls, Fault: llmtest.Must(tt.fault)})
				reply, err := toolClient(t, srv.URL, whole).Generate(t.Context(), asking)
				if (err == nil) != (tt.kind == "") || len(reply.Calls) != tt.calls || len(reply.Attempts) != 1 ||
					reply.Attempts[0].Kind != tt.kind {
					t.Fatalf("reply %+v, %v", reply, err)
				}
				if err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %v, want %q", err, tt.says)
				}
				if err != nil && !whole && strings.Contains("cut body, no end, malformed JSON", tt.fault) &&
					reply.Attempts[0].Streamed == 0 {
					t.Errorf("no token streamed before the fault: %+v", reply.Attempts[0])
				}
				for i, c := range reply.Calls {
					if want := twoCalls(llmtest.Request{})[i]; c.Name != want.Name || c.Arguments != want.Arguments &&
						tt.fault != "length" || c.ID == "" {
						t.Errorf("call %d is %+v", i, c)
					}
				}
			})
		})
	}
}

// What a server says of tools that it does not have, and what the user is told.
func TestRefusalsOfTools(t *testing.T) {
	for _, tt := range []struct {
		server string
		status int
		text   string
		hint   bool
	}{
		{"Ollama", 400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools"}}`, true},
		{"vLLM", 400, `{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}`, true},
		{"llama.cpp", 500, `{"error":{"code":500,"message":"tools param requires --jinja flag"}}`, true},
		{"OpenRouter", 404, `{"error":{"message":"No endpoints found that support tool use."}}`, true},
		{"one that does not know the field", 422, `{"error":{"message":"Unrecognized request argument supplied: tools"}}`,
			true},
		{"one that minds the conversation", 400,
			`{"error":{"message":"messages with role 'tool' must be a response to a preceeding message"}}`, false},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.text)
		}))
		t.Cleanup(srv.Close)
		reply, err := toolClient(t, srv.URL, true).Generate(t.Context(), asking)
		if err == nil || strings.Contains(err.Error(), "or ask without tools") != tt.hint {
			t.Errorf("%s: %v", tt.server, err)
		}
		if len(reply.Attempts) != 1 || reply.Attempts[0].Kind != llm.KindBadRequest {
			t.Errorf("%s: %+v", tt.server, reply.Attempts)
		}
	}
}

// What no endpoint takes is refused before it is sent.
func TestRequestsWithToolsAreChecked(t *testing.T) {
	user := llm.Message{Role: llm.User, Content: "x"}
	for _, tt := range []struct {
		req  llm.Request
		says string
	}{
		{llm.Request{Tools: []llm.Tool{{}}}, "a tool has no name"},
		{llm.Request{Tools: []llm.Tool{{Name: "f", Parameters: "[]"}}}, `parameters of the tool "f" are not a JSON object`},
		{llm.Request{Tools: []llm.Tool{{Name: "f", Parameters: `{"a":`}}}, "are not a JSON object"},
		{llm.Request{Messages: []llm.Message{{Role: llm.ToolResult, Content: "r"}}},
			"only results of tools have one, and need it"},
		{llm.Request{Messages: []llm.Message{{Role: llm.User, CallID: "a"}}}, "only results of tools have one"},
		{llm.Request{Messages: []llm.Message{{Role: llm.User, Calls: []llm.ToolCall{{ID: "a", Name: "f"}}}}},
			"only the assistant makes"},
	} {
		tt.req.Messages = append(tt.req.Messages, user)
		reply, err := toolClient(t, "http://127.0.0.1:1/v1", true).Generate(context.Background(), tt.req)
		if err == nil || !strings.Contains(err.Error(), tt.says) || len(reply.Attempts) > 0 {
			t.Errorf("%v, want %q", err, tt.says)
		}
	}
}

// A request without tools is what it was before there were any, byte for byte, and one with tools has OpenAI's form.
func TestBodiesOfRequests(t *testing.T) {
	w := newWire(t, "application/json", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`)
	c := toolClient(t, w.URL, true)
	bare, with := asking, asking
	bare.Tools, with.Tools = nil, []llm.Tool{{Name: "f", Parameters: `{"a": "<b>"}`}}
	with.Messages = []llm.Message{{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}},
		{Role: llm.ToolResult, CallID: "c", Content: "r"}}
	for _, req := range []llm.Request{bare, with} {
		if _, err := c.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	sampling, err := json.Marshal(model.WithDefaults().MaxTokens)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`"messages":[{"role":"user","content":"Read <a> & b."}],"seed":40,`,
		`"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
			`{"role":"tool","content":"r","tool_call_id":"c"}],"seed":40,`,
	} {
		end := `"max_tokens":` + string(sampling)
		if i == 1 {
			end += `,"tools":[{"type":"function","function":{"name":"f","parameters":{"a":"<b>"}}}]`
		}
		if got := w.bodies[i]; !strings.Contains(got, want) || !strings.HasSuffix(got, end+"}") {
			t.Errorf("sent %s\nwant %s...%s}", got, want, end)
		}
	}
}
