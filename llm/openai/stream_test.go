package openai_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// patient are limits that no test passes by chance.
var patient = openai.Stream{FirstToken: time.Minute, Silence: time.Minute, MinRate: -1}

// newStreamer is newClient for streamed answers.
func newStreamer(t testing.TB, url string, m llm.Model, s openai.Stream) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{BaseURL: url, APIKey: secret, Model: m, Stream: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// reply50 is 50 tokens long by llmtest.Tokens.
var reply50 = strings.Repeat("f(1)\nf(2)\n", 20)

func say(text string) func(llmtest.Request) string {
	return func(llmtest.Request) string { return text }
}

// A streamCase is what becomes of a streamed request that the server spoils in one way.
type streamCase struct {
	fault    llmtest.Fault
	status   llm.Status // "" means OK, or Failed where there is a kind
	kind     string
	finish   string
	usage    *llm.Usage
	streamed int
	says     string
	text     string
}

func streamCases() []streamCase {
	whole := &llm.Usage{PromptTokens: 9, CompletionTokens: 50}
	half := &llm.Usage{PromptTokens: 9, CompletionTokens: 25}
	return []streamCase{
		{fault: "", finish: "stop", usage: whole, streamed: 50, text: reply50},
		{fault: "duplicate chunks", finish: "stop", usage: whole, streamed: 50, text: reply50},
		{fault: "no usage", finish: "stop", streamed: 50, text: reply50},
		{fault: "negative usage", finish: "stop", streamed: 50, text: reply50},
		{fault: "wrong-typed usage", finish: "stop", streamed: 50, text: reply50},
		{fault: "cached above prompt", finish: "stop", usage: &llm.Usage{PromptTokens: 9, CachedTokens: 9,
			CompletionTokens: 50}, streamed: 50, text: reply50},
		{fault: "length", finish: "length", usage: half, streamed: 25, text: reply50[:100]},
		{fault: "empty length", kind: llm.KindBrokenReply, finish: "length", streamed: 16,
			usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 16}, says: `empty content, finish reason "length"`},
		{fault: "null content", kind: llm.KindBrokenReply, finish: "stop", usage: whole, streamed: 50,
			says: `no content, finish reason "stop"`},
		{fault: "no choices", kind: llm.KindBrokenReply, usage: whole, streamed: 50, says: "without choices"},
		{fault: "malformed JSON", kind: llm.KindBrokenReply, usage: half, streamed: 25, says: "malformed JSON"},
		{fault: "wrong-typed JSON", kind: llm.KindBrokenReply, usage: half, streamed: 25,
			says: "wrong-typed JSON, choices is a string"},
		{fault: "html 200", kind: llm.KindBrokenReply, says: "an HTML page instead of JSON: Sign in"},
		{fault: "no end", kind: llm.KindBrokenReply, usage: half, streamed: 25, says: "ended without a finish reason"},
		{fault: "error in stream", kind: llm.KindServer, usage: half, streamed: 25,
			says: "502 Bad Gateway: Upstream provider failed"},
		{fault: "200 with error object", kind: llm.KindServer, says: "502 Bad Gateway: Upstream provider failed"},
		{fault: "cut body", kind: llm.KindConnection, usage: half, streamed: 25, says: "unexpected EOF"},
		{fault: "reset", kind: llm.KindConnection, says: "connection reset by peer"},
		{fault: "reset body", kind: llm.KindConnection, usage: half, streamed: 25, says: "connection reset by peer"},
		{fault: "429", kind: llm.KindRateLimit, says: "Rate limit reached"},
		{fault: "400 context length", kind: llm.KindContextLength, says: "32768 tokens"},
		{fault: "401", kind: llm.KindAuth, says: "check the key"},
		{fault: "500 error text", kind: llm.KindServer, says: "the runner has stopped"},
	}
}

func TestStreamedFaults(t *testing.T) {
	for _, tt := range streamCases() {
		t.Run(string(tt.fault), func(t *testing.T) {
			noLeak(t)
			srv := serve(t, llmtest.Config{Fault: always(tt.fault), Reply: say(reply50)})
			reply, err := newStreamer(t, srv.URL, model, patient).Generate(t.Context(), request)
			tt.check(t, srv.URL, reply, err)
		})
	}
}

func (tt streamCase) check(t *testing.T, url string, reply llm.Reply, err error) {
	t.Helper()
	want := llm.Attempt{
		Status: llm.OK, Kind: tt.kind, Usage: tt.usage, Streamed: tt.streamed, MaxTokens: 16000, FinishReason: tt.finish,
		Model: "qwen3-8b", ActiveParams: model.ActiveParams, Endpoint: url,
	}
	if tt.kind != "" {
		want.Status = llm.Failed
	}
	want.Status = cmp.Or(tt.status, want.Status)
	if diff := gocmp.Diff([]llm.Attempt{want}, reply.Attempts,
		cmpopts.IgnoreFields(llm.Attempt{}, "Latency", "Err")); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if llm.StatusOf(err) != want.Status || reply.Text != tt.text {
		t.Errorf("text %q, error %v", reply.Text, err)
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		checkMessage(t, err, url, tt.says)
		if e.Kind != tt.kind {
			t.Errorf("kind %q, want %q", e.Kind, tt.kind)
		}
	}
}

func testStreamedStalls(t *testing.T) {
	const limit = 2 * time.Second
	some := &llm.Usage{PromptTokens: 9, CompletionTokens: 25}
	for _, tt := range []struct {
		fault  llmtest.Fault
		limits openai.Stream
		want   streamCase
	}{
		{"hang", openai.Stream{FirstToken: limit}, streamCase{says: "no token within 2s"}},
		{"hang first token", openai.Stream{FirstToken: limit}, streamCase{says: "no token within 2s",
			usage: &llm.Usage{PromptTokens: 9}}},
		{"hang body", openai.Stream{Silence: limit}, streamCase{says: "silent for 2s", usage: some, streamed: 25}},
		{"hang body", openai.Stream{MinRate: 100, Window: limit},
			streamCase{says: "fewer than 200 tokens in 2s", usage: some, streamed: 25}},
		{"drip", openai.Stream{MinRate: 10, Window: limit, Silence: -1}, streamCase{says: "fewer than 20 tokens in 2s",
			usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 1}, streamed: 1}},
	} {
		t.Run(fmt.Sprint(tt.fault, " ", tt.want.says), func(t *testing.T) {
			t.Parallel()
			srv := serve(t, llmtest.Config{Fault: always(tt.fault), Reply: say(reply50), Drip: time.Hour})
			reply, err := newStreamer(t, srv.URL, model, tt.limits).Generate(t.Context(), request)
			tt.want.status = llm.Stalled
			tt.want.check(t, srv.URL, reply, err)
			wantGone(t, srv, tt.fault)
			if lat := reply.Attempts[0].Latency; lat < limit {
				t.Errorf("latency %v, want %v at least", lat, limit)
			}
		})
	}
}

func testStreamedTimeoutAndCancel(t *testing.T) {
	for _, tt := range []struct {
		reason string
		status llm.Status
		says   string
	}{
		{"the model's own limit for the whole call", llm.Timeout, "no answer within 2s"},
		{"the caller gives up", llm.Canceled, "the caller gave up"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, llmtest.Config{Fault: always("hang body"), Reply: say(reply50)})
			m, ctx := model, t.Context()
			if tt.status == llm.Timeout {
				m.Timeout = 2 * time.Second
			} else {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
			}
			reply, err := newStreamer(t, srv.URL, m, patient).Generate(ctx, request)
			streamCase{
				status: tt.status, says: tt.says, streamed: 25, usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 25},
			}.check(t, srv.URL, reply, err)
			wantGone(t, srv, "hang body")
		})
	}
}

// countDials counts the connections that transport makes.
func countDials(transport *http.Transport, n *atomic.Int64) *http.Transport {
	var dialer net.Dialer
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		n.Add(1)
		return dialer.DialContext(ctx, network, addr)
	}
	return transport
}
