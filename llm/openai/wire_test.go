package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

const (
	chunkA    = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	chunkStop = `data: {"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}` + "\n\n"
	chunkUse  = `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n"
	done      = "data: [DONE]\n\n"
	program   = "```js\\nf()\\n```"
)

// delta is a chunk with the fields of a delta.
func delta(fields string) string { return `data: {"choices":[{"delta":{` + fields + "}}]}\n\n" }

// A wireCase is a reply as it stands on the wire, and what is read of it.
type wireCase struct {
	reason string
	parts  []string
	want   llm.Reply // without attempts
	kind   string    // "" if there is an answer
	says   string
}

func text(s string) llm.Reply { return llm.Reply{Text: s} }

// streamCases are replies to requests for a stream.
var streamCases = []wireCase{
	{"the usual", []string{chunkA, chunkStop, chunkUse, done}, text("a"), "", ""},
	{"CRLF, and a line cut within", []string{strings.ReplaceAll(chunkA[:20], "\n", "\r\n"),
		strings.ReplaceAll(chunkA[20:]+chunkStop+done, "\n", "\r\n")}, text("a"), "", ""},
	{"keep-alive comments", []string{strings.Repeat(": ping\n\n", 100), chunkA, ": ping\n\n", chunkStop, done}, text("a"),
		"", ""},
	{"no [DONE]", []string{chunkA, chunkStop, chunkUse}, text("a"), "", ""},
	{"no empty line at the end", []string{chunkA, chunkStop, chunkUse, "data: [DONE]"}, text("a"), "", ""},
	{"the server hangs after [DONE]", []string{chunkA, chunkStop, done, "hang"}, text("a"), "", ""},
	{"[DONE] without a finish reason", []string{chunkA, done}, text("a"), "", ""},
	{"data over several lines", []string{"data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"}}]}\n\n", done},
		text("a"), "",
		""},
	{"thinking in its own field, under two names", []string{delta(`"reasoning":"hm","reasoning_content":"hm"`), chunkA,
		done},
		llm.Reply{Text: "a", Reasoning: "hm"}, "", ""},
	{"a part that is thinking, and one that is text", []string{
		delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`),
		delta(`"content":[{"type":"text","text":"a"}]`), done}, llm.Reply{Text: "a", Reasoning: "hm"}, "", ""},
	{"a character cut between two chunks", []string{delta("\"content\":\"a\xe2\x82\""),
		delta("\"content\":\"\xac\\ud83d\\ude00\""),
		done}, text("a€😀"), "", ""},
	{"half a character", []string{delta("\"content\":\"a\xe2\x82\""), done}, text("a\ufffd"), "", ""},
	{"text after the finish reason", []string{chunkA, chunkStop, chunkA, done}, text("aa"), "", ""},
	{"another choice, which was not asked for",
		[]string{`data: {"choices":[{"index":1,"delta":{"content":"b"}}]}` + "\n\n",
			chunkA, done}, text("a"), "", ""},
	{"an answer in one piece from a server that does not stream", []string{
		`{"choices":[{"message":{"content":"a"},`, `"finish_reason":"stop"}]}`}, text("a"), "", ""},
	{"the end without either", []string{chunkA}, text(""), llm.KindBrokenReply, "without a finish reason or [DONE]"},
	{"cut within a chunk", []string{chunkA, chunkStop[:30]}, text(""), llm.KindBrokenReply, "no JSON"},
	{"an error event", []string{chunkA, "event: error\ndata: {\"message\":\"boom\",\"code\":503}\n\n"}, text(""),
		llm.KindServer,
		"503 Service Unavailable: boom"},
	{"an error object", []string{chunkA, "data: {\"error\":{\"message\":\"too many\",\"code\":429}}\n\n"}, text(""),
		llm.KindRateLimit, "429 Too Many Requests: too many"},
	{"an error that is text", []string{chunkA, "data: {\"error\":\"boom\"}\n\n"}, text(""), llm.KindServer,
		"an error under a success status: boom"},
	{"an error without a number", []string{chunkA,
		`data: {"error":{"message":"boom","type":"server_error","code":"internal"}}` + "\n\n"}, text(""), llm.KindServer,
		"an error under a success status: boom"},
	{"a limit without a number, on a bare line", []string{chunkA,
		`{"error":{"message":"boom","type":"tokens","code":"rate_limit_exceeded"}}` + "\n"}, text(""), llm.KindRateLimit,
		"429 Too Many Requests: boom"},
	{"an error in a list", []string{`data: [{"error":{"code":400,"message":"boom"}}]` + "\n\n"}, text(""),
		llm.KindBadRequest,
		"400 Bad Request: boom"},
	{"an error in a choice", []string{chunkA, `data: {"choices":[{"error":{"code":502,"message":"boom"}}]}` + "\n\n",
		done},
		text(""), llm.KindServer, "502 Bad Gateway: boom"},
	{"a field error, as llama.cpp has it, and [DONE]", []string{
		`error: {"code":400,"message":"the request exceeds the available context size"}` + "\n\n", done}, text(""),
		llm.KindContextLength, "400 Bad Request: the request exceeds the available context size"},
	{"a bare line of JSON after half an answer", []string{chunkA, `{"error":{"message":"boom","code":500}}` + "\n"},
		text(""),
		llm.KindServer, "500 Internal Server Error: boom"},
	{"an error in one piece, over several lines",
		[]string{"{\n \"error\": {\n  \"message\": \"boom\", \"code\": 500}\n}"}, text(""),
		llm.KindServer, "500 Internal Server Error: boom"},
	{"a page", []string{"<html><body>Sign in</body></html>"}, text(""), llm.KindBrokenReply, "no JSON: (HTML) Sign in"},
	{"nothing", nil, text(""), llm.KindBrokenReply, "no choices"},
}

// wholeCases are messages of answers in one piece, with a finish reason.
var wholeCases = []wireCase{
	{"plain", []string{`"content":"hi"`, "stop"}, text("hi"), "", ""},
	{"cut, but not empty", []string{`"content":"h"`, "length"}, text("h"), "", ""},
	{"an empty answer that the model ended", []string{`"content":""`, "stop"}, text(""), "", ""},
	{"a list of parts", []string{`"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"h"},{"text":"i"}]`,
		"stop"}, llm.Reply{Text: "hi", Reasoning: "hm"}, "", ""},
	{"a part that is reasoning by its type",
		[]string{`"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"hi"}]`,
			"stop"}, llm.Reply{Text: "hi", Reasoning: "hm"}, "", ""},
	{"one program, all in the reasoning", []string{`"content":"","reasoning_content":"so ` + program + `"`, "stop"},
		llm.Reply{Text: "so ```js\nf()\n```", Reasoning: "so ```js\nf()\n```"}, "", ""},
	{"a blank beside it", []string{`"content":"\n","reasoning":"\n` + program + `\n"`, "stop"},
		llm.Reply{Text: "\n```js\nf()\n```\n", Reasoning: "\n```js\nf()\n```\n"}, "", ""},
	{"two programs in the reasoning, of which neither is the answer",
		[]string{`"content":"","reasoning_content":"` + program + `\n\n` + program + `"`, "stop"},
		llm.Reply{Reasoning: "```js\nf()\n```\n\n```js\nf()\n```"}, "", ""},
	{"nothing but thoughts", []string{`"content":null,"reasoning_content":"hm"`, "stop"}, llm.Reply{Reasoning: "hm"}, "",
		""},
	{"thoughts up to the cap", []string{`"content":null,"reasoning_content":"hm"`, "length"}, text(""), llm.KindNoAnswer,
		"no text before the cap on tokens: raise the model's MaxTokens"},
	{"a refusal", []string{`"content":null,"refusal":"I can't help"`, "stop"}, text(""), llm.KindNoAnswer,
		"the model declined to answer: I can't help"},
	{"filtered", []string{`"content":""`, "content_filter"}, text(""), llm.KindNoAnswer,
		"content filter removed the answer"},
	{"filtered at its end", []string{`"content":"hi"`, "content_filter"}, text(""), llm.KindNoAnswer,
		"content filter removed the answer"},
	{"a call of a tool", []string{`"content":null,"tool_calls":[{"id":"a","function":{"name":"f"}}]`, "tool_calls"},
		text(""),
		llm.KindNoAnswer, `the model called a tool instead of answering: "f"`},
	{"no content", []string{`"content":null`, "stop"}, text(""), llm.KindBrokenReply, `no content, finish reason "stop"`},
	{"content of another type", []string{`"content":7`, "stop"}, text(""), llm.KindBrokenReply, "no content"},
}

func (tt wireCase) run(t *testing.T, whole bool, parts ...string) {
	w := newWire(t, 200, http.Header{"Content-Type": {"text/event-stream"}}, parts...)
	reply, err := open(t, w.URL, openai.Config{Whole: whole}).Generate(t.Context(), request)
	if len(reply.Attempts) != 1 || reply.Attempts[0].Kind != tt.kind {
		t.Fatalf("reply %+v, error %v", reply, err)
	}
	if reply.Attempts = nil; tt.kind == "" {
		if diff := cmp.Diff(tt.want, reply); diff != "" || err != nil {
			t.Errorf("error %v, reply (-want +got):\n%s", err, diff)
		}
		return
	}
	checkMessage(t, err, w.URL, tt.says)
	if llm.Retryable(err) != (tt.kind != llm.KindNoAnswer && tt.kind != llm.KindContextLength &&
		tt.kind != llm.KindBadRequest) {
		t.Errorf("Retryable is %v for %v", llm.Retryable(err), err)
	}
}

func TestRepliesAsTheyComeOverTheWire(t *testing.T) {
	noLeak(t) // of all cases, which are waited for together
	t.Run("", func(t *testing.T) {
		for _, tt := range streamCases {
			t.Run(tt.reason, func(t *testing.T) {
				t.Parallel()
				tt.run(t, false, tt.parts...)
			})
		}
		for _, tt := range wholeCases {
			t.Run(tt.reason, func(t *testing.T) {
				t.Parallel()
				tt.run(t, true, `{"choices":[{"message":{`+tt.parts[0]+`},"finish_reason":"`+tt.parts[1]+`"}]}`)
			})
		}
	})
}

// What servers say of usage is believed as far as it can be true.
func TestUsage(t *testing.T) {
	const most = 34 + 3*32 // bytes of the two messages, and what is around them
	u := func(prompt, cached, completion int) *llm.Usage {
		return &llm.Usage{PromptTokens: prompt, CachedTokens: cached, CompletionTokens: completion}
	}
	for _, tt := range []struct {
		reason, usage string
		want          *llm.Usage
		capped        bool
	}{
		{"full", `{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}}`, u(9, 8, 4), false},
		{"more cached than there are",
			`{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":10}}`,
			u(9, 9, 4), false},
		{"cached in words", `{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":"all"}}`,
			u(9, 0, 4), false},
		{"whole numbers written as floats", `{"prompt_tokens":9.0,"completion_tokens":4e0}`, u(9, 0, 4), false},
		{"null", `null`, nil, false},
		{"half", `{"prompt_tokens":9}`, nil, false},
		{"zeros from a server that does not count", `{"prompt_tokens":0,"completion_tokens":0}`, nil, false},
		{"a negative prompt", `{"prompt_tokens":-9,"completion_tokens":4}`, nil, false},
		{"a fraction", `{"prompt_tokens":9.5,"completion_tokens":4}`, nil, false},
		{"more than a float holds", `{"prompt_tokens":9,"completion_tokens":1e999}`, nil, false},
		{"another type", `[9, 4]`, nil, false},
		{"a billion each", `{"prompt_tokens":1000000000,"completion_tokens":1000000000,"prompt_tokens_details":` +
			`{"cached_tokens":1000000000}}`, u(most, most, 100), true},
		{"one token too many in the prompt", `{"prompt_tokens":131,"completion_tokens":1}`, u(most, 0, 1), true},
		{"one new token too many", `{"prompt_tokens":9,"completion_tokens":101}`, u(9, 0, 100), true},
	} {
		for _, whole := range []bool{false, true} {
			body := `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":` + tt.usage + "}"
			if !whole {
				body = "data: " + strings.Replace(body, "message", "delta", 1) + "\n\n" + done
			}
			w := newWire(t, 200, nil, body)
			req := request
			req.MaxTokens = new(100)
			reply, err := open(t, w.URL, openai.Config{Whole: whole}).Generate(t.Context(), req)
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			a := reply.Attempts[0]
			if diff := cmp.Diff(tt.want, a.Usage); diff != "" || a.Capped != tt.capped || a.Streamed > 100 {
				t.Errorf("%s, whole %v: %+v (-want +got):\n%s", tt.reason, whole, a, diff)
			}
		}
	}
}
