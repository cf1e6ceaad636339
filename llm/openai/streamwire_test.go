package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// A wire serves bodies as they stand, each part flushed before the next.
type wire struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string // of the requests
}

// newWire answers with status 200 and parts; "hang" among them waits until the client leaves.
func newWire(t *testing.T, contentType string, parts ...string) *wire {
	t.Helper()
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.bodies = append(w.bodies, string(body))
		w.mu.Unlock()
		rw.Header().Set("Content-Type", contentType)
		for _, p := range parts {
			if p == "hang" {
				<-r.Context().Done()
				return
			}
			io.WriteString(rw, p)
			http.NewResponseController(rw).Flush()
		}
	}))
	t.Cleanup(w.Close)
	return w
}

const (
	chunkA    = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	chunkStop = `data: {"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}` + "\n\n"
	chunkUse  = `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n"
	done      = "data: [DONE]\n\n"
)

func TestStreamsAsTheyComeOverTheWire(t *testing.T) {
	noLeak(t) // of all cases, which are waited for together
	t.Run("", testStreamsOverTheWire)
}

func testStreamsOverTheWire(t *testing.T) {
	ping := strings.Repeat(": ping\n\n", 100)
	for _, tt := range []struct {
		reason, contentType string
		parts               []string
		text                string
		says                string // "" if there is an answer
		usage               bool
	}{
		{"the usual", "text/event-stream", []string{chunkA, chunkStop, chunkUse, done}, "a", "", true},
		{"CRLF, and a line cut within", "text/event-stream; charset=utf-8",
			[]string{strings.ReplaceAll(chunkA[:20], "\n", "\r\n"),
				strings.ReplaceAll(chunkA[20:]+chunkStop+chunkUse+done, "\n", "\r\n")}, "a", "", true},
		{"keep-alive comments", "text/event-stream", []string{ping, chunkA, ping, chunkStop, ping, done}, "a", "", false},
		{"no [DONE]", "text/event-stream", []string{chunkA, chunkStop, chunkUse}, "a", "", true},
		{"no empty line at the end", "text/event-stream", []string{chunkA, chunkStop, chunkUse, "data: [DONE]"}, "a", "",
			true},
		{"the server hangs after [DONE]", "text/event-stream", []string{chunkA, chunkStop, chunkUse, done, "hang"}, "a", "",
			true},
		{"[DONE] without a finish reason", "text/event-stream", []string{chunkA, done}, "", "ended without a finish reason",
			false},
		{"the end without either", "text/event-stream", []string{chunkA}, "", "ended without a finish reason", false},
		{"cut within a chunk", "text/event-stream", []string{chunkA, chunkStop[:30]}, "", "malformed JSON", false},
		{"an error event", "text/event-stream", []string{chunkA,
			"event: error\ndata: {\"message\":\"boom\",\"code\":503}\n\n"}, "", "503 Service Unavailable: boom", false},
		{"an error object", "text/event-stream", []string{chunkA,
			"data: {\"error\":{\"message\":\"too many\",\"code\":429}}\n\n"}, "", "429 Too Many Requests: too many", false},
		{"an error that is text", "text/event-stream", []string{chunkA, "data: {\"error\":\"boom\"}\n\n"}, "",
			"an error in the stream: boom", false},
		{"an answer in one piece from a server that does not stream", "application/json",
			[]string{"\n", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],`,
				`"usage":{"prompt_tokens":9,"completion_tokens":1}}`}, "a", "", true},
		{"an error object in one piece", "text/event-stream", []string{`{"error":{"message":"boom","code":500}}`}, "",
			"500 Internal Server Error: boom", false},
		{"a page", "text/html", []string{"<html><body>Sign in</body></html>"}, "", "an HTML page", false},
		{"nothing", "text/event-stream", nil, "", "a stream without choices", false},
		{"a line without an end", "text/event-stream", []string{"data: ", strings.Repeat("x", 5<<20)}, "",
			"an event of the stream is too long", false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			srv := newWire(t, tt.contentType, tt.parts...)
			reply, err := newStreamer(t, srv.URL, model, patient).Generate(t.Context(), request)
			if (err == nil) != (tt.says == "") || reply.Text != tt.text || len(reply.Attempts) != 1 {
				t.Fatalf("reply %+v, error %v", reply, err)
			}
			if err != nil {
				checkMessage(t, err, srv.URL, tt.says)
			}
			if u := reply.Attempts[0].Usage; (u != nil) != tt.usage {
				t.Errorf("usage %v", u)
			}
		})
	}
}

func testEndlessStreams(t *testing.T) {
	for _, tt := range []struct {
		reason, part, says string
		status             llm.Status
	}{
		{"text without an end", chunkA, "longer than Config.MaxBody", llm.Failed},
		{"comments without an end are no token", ": ping\n\n", "no token within 500ms", llm.Stalled},
		{"nor are empty deltas", `data: {"choices":[{"delta":{"content":""}}]}` + "\n\n", "no token within 500ms",
			llm.Stalled},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, tt.part); err != nil {
						return
					}
					if tt.status == llm.Stalled { // so that the bound on all bytes is not reached first
						http.NewResponseController(w).Flush()
						time.Sleep(5 * time.Millisecond)
					}
				}
			}))
			t.Cleanup(srv.Close)
			limits := patient
			if tt.status == llm.Stalled {
				limits.FirstToken = 500 * time.Millisecond
			}
			c, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model, MaxBody: 1000, Stream: limits})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			_, err = c.Generate(t.Context(), request)
			if llm.StatusOf(err) != tt.status {
				t.Errorf("status %s, want %s", llm.StatusOf(err), tt.status)
			}
			checkMessage(t, err, srv.URL, tt.says)
		})
	}
}

// refusing serves a stream to requests that ask for no more usage than allowed, and a refusal to
// others.
func refusing(t *testing.T, status int, refusal string, allowed func(asked) bool) (srv *llmtest.Server, proxy *httptest.Server) {
	srv = serve(t, llmtest.Config{Reply: say(reply50)})
	proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var o asked
		o.stream = strings.Contains(string(body), `"stream":true`)
		o.IncludeUsage = strings.Contains(string(body), `"include_usage":true`)
		o.ContinuousUsage = strings.Contains(string(body), `"continuous_usage_stats":true`)
		if err != nil || !allowed(o) {
			http.Error(w, refusal, status)
			return
		}
		resp, err := http.Post(srv.URL+"/chat/completions", "application/json", strings.NewReader(string(body)))
		if err != nil {
			return
		}
		defer resp.Body.Close()
		io.Copy(w, resp.Body)
	}))
	t.Cleanup(proxy.Close)
	return srv, proxy
}

// asked is what a request asks of a stream.
type asked struct {
	llmtest.StreamOptions
	stream bool
}

func TestRefusedOptionsAreNoticedOnce(t *testing.T) {
	final := func(o asked) bool { return !o.ContinuousUsage }
	none := func(o asked) bool { return o.StreamOptions == llmtest.StreamOptions{} }
	whole := func(o asked) bool { return !o.stream }
	never := func(asked) bool { return false }
	for _, tt := range []struct {
		reason      string
		status      int
		text        string
		allowed     func(asked) bool
		first, then int // attempts of the first call and of the second
		usage       bool
		streamed    int
		ok          bool
	}{
		{"OpenAI does not know vLLM's extension", 400,
			`{"error":{"message":"Unknown parameter: 'stream_options.continuous_usage_stats'."}}`, final, 2, 1, true, 50, true},
		{"pydantic says so with 422", 422,
			`{"detail":[{"loc":["body","stream_options","continuous_usage_stats"],"msg":"Extra inputs are not permitted"}]}`,
			final, 2, 1, true, 50, true},
		{"a server that knows no options", 400, `{"detail":"Extra parameters ['stream_options'] are not allowed"}`, none, 3,
			1, false, 50, true},
		{"one that does not say what it minds", 400, "Bad Request", none, 3, 1, false, 50, true},
		{"one that does not stream", 400, `{"error":{"message":"Streaming is not supported by this model"}}`, whole, 2, 1,
			true, 0, true},
		{"one that says so of the parameter", 422, `{"detail":[{"loc":["body","stream"],"msg":"must be false"}]}`, whole, 2,
			1, true, 0, true},
		{"one that says so with 501", 501, "stream is not implemented", whole, 2, 1, true, 0, true},
		{"one that does not stream, nor say so", 400, "Bad Request", whole, 4, 1, true, 0, true},
		{"one that minds something else", 400, "temperature must be at most 2", never, 4, 4, false, 0, false},
		{"an upstream is no stream", 501, "upstream has no such method", never, 1, 1, false, 0, false},
		{"another status is no such refusal", 500, "stream_options", none, 1, 1, false, 0, false},
		{"nor is a prompt that does not fit", 400, "the maximum context length is 10", none, 1, 1, false, 0, false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			_, proxy := refusing(t, tt.status, tt.text, tt.allowed)
			c := newStreamer(t, proxy.URL, model, patient)
			for i, want := range []int{tt.first, tt.then} {
				reply, err := c.Generate(t.Context(), request)
				if (err == nil) != tt.ok || len(reply.Attempts) != want {
					t.Fatalf("call %d: %d attempts, want %d; error %v", i+1, len(reply.Attempts), want, err)
				}
				for _, a := range reply.Attempts[:want-1] {
					if a.Status != llm.Failed || a.Kind != llm.KindBadRequest && tt.status != 501 || a.Usage != nil ||
						a.Streamed != 0 {
						t.Errorf("call %d: attempt %+v", i+1, a)
					}
				}
				if last := reply.Attempts[want-1]; tt.ok && ((last.Usage != nil) != tt.usage || last.Streamed != tt.streamed) {
					t.Errorf("call %d: last attempt %+v", i+1, last)
				}
			}
		})
	}
}

func TestRefusalsOfAProvenEndpointAreFinal(t *testing.T) {
	var refuse atomic.Bool
	_, proxy := refusing(t, 400, "no", func(asked) bool { return !refuse.Load() })
	c := newStreamer(t, proxy.URL, model, patient)
	if _, err := c.Generate(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	refuse.Store(true)
	reply, err := c.Generate(t.Context(), request)
	if len(reply.Attempts) != 1 || err == nil {
		t.Errorf("%d attempts, error %v: want the one, since the options were accepted before", len(reply.Attempts), err)
	}
}

func TestAgainIsAskedBeforeOptionsAreTakenBack(t *testing.T) {
	srv := serve(t, llmtest.Config{Fault: always("400 continuous_usage_stats")})
	ctx := llm.WithTrace(t.Context(), &llm.Trace{Again: func(context.Context, llm.Request) error {
		return errors.New("no budget left")
	}})
	reply, err := newStreamer(t, srv.URL, model, patient).Generate(ctx, request)
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Kind != llm.KindBadRequest || !strings.Contains(err.Error(), "no budget left") ||
		len(reply.Attempts) != 1 {
		t.Errorf("attempts %+v, error %v", reply.Attempts, err)
	}
}

func TestStreamRequestOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		reason string
		extra  map[string]any
		want   string
	}{
		{"usage as it goes", nil, `"stream_options":{"continuous_usage_stats":true,"include_usage":true}`},
		{"the user's own options", map[string]any{"stream_options": map[string]any{"x": 1}}, `"stream_options":{"x":1}`},
	} {
		srv := newWire(t, "text/event-stream", chunkA, chunkStop, done)
		c, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model, Stream: openai.Stream{}, Extra: tt.extra})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Generate(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		flip := `"stream_options":{"include_usage":true,"continuous_usage_stats":true}`
		if b := srv.bodies[0]; !strings.Contains(b, `"stream":true`) || !strings.Contains(b, tt.want) &&
			!strings.Contains(b, flip) {
			t.Errorf("%s: %s", tt.reason, b)
		}
	}
}

func TestReasoningIsKeptApartAndCounted(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		srv := serve(t, llmtest.Config{Reply: say("answer"), Reasoning: say("let me think a bit")})
		cfg := openai.Config{BaseURL: srv.URL, Model: model, Stream: patient, Whole: !streamed}
		c, err := openai.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		reply, err := c.Generate(t.Context(), request)
		if err != nil || reply.Text != "answer" || reply.Reasoning != "let me think a bit" {
			t.Fatalf("reply %+v, error %v", reply, err)
		}
		if u := reply.Attempts[0].Usage; u.CompletionTokens != 6 { // 18 and 6 bytes
			t.Errorf("usage %+v", u)
		}
	}
}

func TestStreamedConnectionsAreUsedAgain(t *testing.T) {
	var dialled atomic.Int64
	srv := serve(t, llmtest.Config{Reply: say(reply50)})
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model, Stream: patient, HTTPClient: &http.Client{
		Transport: countDials(transport, &dialled)}})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := c.Generate(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	if n := dialled.Load(); n > 5 { // one, but for a stream whose end is late on a busy machine
		t.Errorf("%d connections for 10 calls in a row", n)
	}
}

func TestStreamIsValidated(t *testing.T) {
	for _, tt := range []struct {
		reason string
		s      openai.Stream
		says   string
	}{
		{"a negative window", openai.Stream{Window: -1}, "Stream.Window is -1ns"},
		{"a rate whose tokens cannot be remembered", openai.Stream{MinRate: 1e9}, "Stream.MinRate of 1e+09"},
	} {
		_, err := openai.New(openai.Config{BaseURL: "http://host/v1", Model: model, Stream: tt.s})
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v", tt.reason, err)
		}
	}
}

func TestClientPrintsItsLimits(t *testing.T) {
	c := newStreamer(t, "http://host/v1", model, openai.Stream{Silence: -1})
	want := "with a key, streamed, first token within 2m0s, 2 tokens/s over 30s)"
	if s := fmt.Sprint(c); !strings.HasSuffix(s, want) {
		t.Errorf("%s, want it to end in %s", s, want)
	}
}
