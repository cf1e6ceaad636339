package openai_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

var (
	readTool = llm.Tool{Name: "read", Description: "Reads a file.",
		Parameters: `{"type":"object","properties":{"path":{"type":"string"}}}`}
	listTool = llm.Tool{Name: "list"}
	asking   = llm.Request{Seed: 40, Tools: []llm.Tool{readTool, listTool}, Messages: request.Messages}
)

// twoCalls calls both tools, with arguments of many tokens in a stream.
func twoCalls(llmtest.Request) []llm.ToolCall {
	return []llm.ToolCall{{Name: "read", Arguments: `{"path":"` + strings.Repeat("dir/", 30) + `a.txt"}`},
		{Name: "list", Arguments: "{}"}}
}

// reply50 is 50 tokens long by llmtest.Tokens, with one program in it.
var reply50 = "```\n" + strings.Repeat("f(1)\nf(2)\n", 19) + "\n```"

// An end is what becomes of a request that meets a fault: the kinds of its attempts, "ok" for an answer, and a part of
// the last error.
type end struct{ attempts, says string }

// A faultCase is a fault with its end where the answer is whole, streamed, and streamed with calls of tools; "" is that
// of the one before, and "-" is not tried.
type faultCase struct {
	fault                  llmtest.Fault
	whole, streamed, tools end
	unavailable            bool
	retryAfter             time.Duration
}

func all(attempts, says string) (e end) { return end{attempts, says} }

var (
	fine     = all("ok", "")
	learned  = all("bad_request ok", "")
	upstream = all("server", "502 Bad Gateway: Upstream provider failed")
)

// faultCases are all faults but those that only a limit ends, which TestLimits has.
var faultCases = []faultCase{
	{fault: "", whole: fine},
	{fault: "no usage", whole: fine},
	{fault: "negative usage", whole: fine},
	{fault: "wrong-typed usage", whole: fine},
	{fault: "cached above prompt", whole: fine},
	{fault: "length", whole: fine},
	{fault: "no call ids", whole: fine},
	{fault: "content parts", whole: fine},
	{fault: "no finish reason", whole: fine},
	{fault: "all in reasoning", whole: fine},
	{fault: "another model", whole: fine},
	{fault: "close after stream", whole: fine},

	{fault: "400 stream_options", whole: fine, streamed: learned},
	{fault: "400 continuous_usage_stats", whole: fine, streamed: learned},
	{fault: "400 stream", whole: fine, streamed: learned},
	{fault: "400 tools", whole: fine, streamed: fine, tools: all("bad_request", "does not support tools")},
	{fault: "400 max_tokens", whole: learned},
	{fault: "400 temperature", whole: learned},
	{fault: "400 top_p", whole: learned},
	{fault: "422 seed", whole: learned},
	{fault: "400 stop", whole: learned},
	{fault: "400 system", whole: learned},

	{fault: "empty length", whole: all("no_answer", "no text before the cap on tokens")},
	{fault: "content filter", whole: all("no_answer", "content filter removed the answer")},
	{fault: "refusal", whole: all("no_answer", "the model declined to answer: I can't help with that.")},
	{fault: "call without tools", whole: all("no_answer", `called a tool instead of answering: "read"`),
		tools: all("-", "")},
	{fault: "null content", whole: all("broken_reply", `no content, finish reason "stop"`), tools: all("-", "")},
	{fault: "no choices", whole: all("broken_reply", "no choices")},
	{fault: "malformed JSON", whole: all("broken_reply", `no JSON: {"id"`)},
	{fault: "wrong-typed JSON", whole: all("broken_reply", "no choices"),
		streamed: all("broken_reply", "without a finish reason")},
	{fault: "html 200", whole: all("broken_reply", "no JSON: (HTML) Sign in Please sign in to go on.")},
	{fault: "no end", whole: all("broken_reply", "no JSON"), streamed: all("broken_reply", "without a finish reason")},
	{fault: "error in stream", whole: upstream},
	{fault: "error in choice", whole: upstream},
	{fault: "error field", whole: upstream},
	{fault: "error line", whole: upstream},
	{fault: "200 with error object", whole: upstream},
	{fault: "cut body", whole: all("connection", "unexpected EOF")},
	{fault: "reset", whole: all("connection", "the connection broke: read: connection reset by peer")},
	{fault: "reset body", whole: all("connection", "reset by peer")},

	{fault: "429", whole: all("rate_limit", "Rate limit reached")},
	{fault: "429 retry-after", whole: all("rate_limit", ""), retryAfter: 3 * time.Second},
	{fault: "429 retry-after date", whole: all("rate_limit", ""), retryAfter: 3 * time.Second},
	{fault: "429 no quota", whole: all("quota", "quota or credit is used up"), unavailable: true},
	{fault: "429 day", whole: all("quota", "(used up until 20"), unavailable: true, retryAfter: 11 * time.Hour},
	{fault: "402", whole: all("quota", "402 Payment Required: Insufficient credits (a quota or credit"), unavailable: true},
	{fault: "401", whole: all("auth", "check the key in Config.APIKey"), unavailable: true},
	{fault: "403", whole: all("auth", "may not use"), unavailable: true},
	{fault: "404", whole: all("not_found", "the model's name"), unavailable: true},
	{fault: "400", whole: all("bad_request", "temperature must be")},
	{fault: "400 context length", whole: all("context_length", "32768 tokens")},
	{fault: "500", whole: all("server", "CUDA error")},
	{fault: "500 error text", whole: all("server", "the runner has stopped")},
	{fault: "500 html", whole: all("server", "500 Internal Server Error: (HTML) 500 Internal Server Error nginx")},
	{fault: "503", whole: all("server", "overloaded")},
	{fault: "503 text", whole: all("server", "no healthy upstream")},
	{fault: "408", whole: all("server", "")},
}

// Each fault ends as the table has it: both sides count the same attempts, and what is learned is said once and not met
// again.
func TestFaults(t *testing.T) {
	limited := []llmtest.Fault{"hang", "hang first token", "hang body", "drip"}
	for _, f := range llmtest.Faults() {
		if !slices.Contains(limited, f) && !slices.ContainsFunc(faultCases, func(c faultCase) bool { return c.fault == f }) {
			t.Errorf("no case of %q", f)
		}
	}
	for _, tt := range faultCases {
		tt.streamed = cmp.Or(tt.streamed, tt.whole)
		tt.tools = cmp.Or(tt.tools, tt.streamed)
		for column, want := range map[string]end{"whole": tt.whole, "streamed": tt.streamed, "tools": tt.tools} {
			t.Run(fmt.Sprint(tt.fault, " ", column), func(t *testing.T) { tt.run(t, column, want) })
		}
	}
}

func (tt faultCase) run(t *testing.T, column string, want end) {
	if want.attempts == "-" {
		return
	}
	noLeak(t)
	srv := serve(t, llmtest.Config{Fault: always(tt.fault), Key: secret, RetryAfter: 3 * time.Second, Reply: say(reply50),
		Calls: twoCalls})
	var mu sync.Mutex
	var notices []string
	c := open(t, srv.URL, openai.Config{Model: llm.PaperSampling(model), Whole: column == "whole",
		Extra: map[string]any{"stop": []string{"###"}}, Notice: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			notices = append(notices, text)
		}})
	req := request
	if column == "tools" {
		req.Tools = asking.Tools
	}
	for call := range 2 {
		reply, err := c.Generate(t.Context(), req)
		wanted := strings.Fields(want.attempts)
		if call == 1 && len(wanted) > 1 { // it was learned
			wanted = wanted[len(wanted)-1:]
		}
		tt.check(t, srv.URL, column, wanted, reply, err)
		if err != nil {
			checkMessage(t, err, srv.URL, want.says)
		}
	}
	if n := len(notices); n > 1 || (n == 1) != (tt.fault == "another model" && want == fine || want == learned) {
		t.Errorf("notices %q", notices)
	}
	if n, made := srv.Stats().Calls, 2*len(strings.Fields(want.attempts)); n != made && (want != learned || n != made-1) {
		t.Errorf("%d calls at the server, want %d", n, made)
	}
}

// check wants attempts of these kinds, and what belongs to their end.
func (tt faultCase) check(t *testing.T, url, column string, kinds []string, reply llm.Reply, err error) {
	t.Helper()
	var want []llm.Attempt
	for _, kind := range kinds {
		a := llm.Attempt{Status: llm.Failed, Kind: kind, MaxTokens: 16000, Model: "qwen3-8b",
			ActiveParams: model.ActiveParams, Endpoint: url}
		if kind == "ok" {
			a.Status, a.Kind = llm.OK, ""
		}
		want = append(want, a)
	}
	if diff := gocmp.Diff(want, reply.Attempts, cmpopts.IgnoreFields(llm.Attempt{}, "Latency", "Err", "Usage", "Streamed",
		"FinishReason")); diff != "" {
		t.Fatalf("attempts (-want +got):\n%s", diff)
	}
	last := reply.Attempts[len(kinds)-1]
	e, _ := errors.AsType[*llm.Error](err)
	switch {
	case kinds[len(kinds)-1] == "ok":
		tt.checkAnswer(t, column, reply, err)
	case e == nil || e.Kind != last.Kind || llm.Unavailable(err) != tt.unavailable ||
		(e.RetryAfter-tt.retryAfter).Abs() > 10*time.Minute || (tt.retryAfter == 0) != (e.RetryAfter == 0):
		t.Errorf("error %#v", err)
	case column != "whole" && slices.Contains([]llmtest.Fault{"cut body", "reset body", "no end", "malformed JSON",
		"error field", "error line", "error in choice", "error in stream"}, tt.fault) && (last.Streamed < 20 ||
		last.Usage == nil ||
		last.Usage.CompletionTokens != last.Streamed):
		t.Errorf("what was streamed before the end is lost: %+v, usage %+v", last, last.Usage)
	}
}

// checkAnswer wants the whole text, or all calls, with their tokens.
func (tt faultCase) checkAnswer(t *testing.T, column string, reply llm.Reply, err error) {
	t.Helper()
	text, tokens, last := reply50, 50, reply.Attempts[len(reply.Attempts)-1]
	if column == "tools" && tt.fault != "all in reasoning" {
		tokens += len(twoCalls(llmtest.Request{})[0].Arguments) / 4
	}
	if tt.fault == "length" && column != "tools" {
		text, tokens = reply50[:len(reply50)/2], 25
	}
	if err != nil || reply.Text != text || last.Err != "" || last.Latency <= 0 {
		t.Errorf("reply %q, error %v, attempt %+v", reply.Text, err, last)
	}
	if none := strings.HasSuffix(string(tt.fault), " usage") || tt.fault == "400 stream_options" &&
		column != "whole"; none !=
		(last.Usage == nil) ||
		last.Usage != nil && (last.Usage.PromptTokens < 9 || last.Usage.CompletionTokens < tokens) {
		t.Errorf("usage %+v, want %d completion tokens", last.Usage, tokens)
	}
	whole := column == "whole" || tt.fault == "400 stream"
	if whole != (last.Streamed == 0) || !whole && last.Streamed < tokens {
		t.Errorf("%d streamed tokens", last.Streamed)
	}
	if column != "tools" || tt.fault == "400 tools" || tt.fault == "all in reasoning" {
		return
	}
	for i, want := range twoCalls(llmtest.Request{}) {
		if len(reply.Calls) != 2 || reply.Calls[i].ID == "" || reply.Calls[i].Name != want.Name ||
			reply.Calls[i].Arguments != want.Arguments && (tt.fault != "length" || i == 0) {
			t.Fatalf("calls %+v", reply.Calls)
		}
	}
}
