package openai_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

const secret = "sk-test-0123456789"

var model = llm.Model{Key: "qwen3-8b", Name: "Qwen/Qwen3-8B", ActiveParams: 8_190_726_144, Timeout: time.Minute}

// request holds 20 bytes for the system and 14 for the user: 5 + 4 tokens by llmtest.Tokens.
var request = llm.Request{Seed: 40, Messages: []llm.Message{
	{Role: llm.System, Content: "Answer in JavaScript"},
	{Role: llm.User, Content: "```js\nf()\n```\n"},
}}

const echoed = "```js\nf()\n```\n"

// newClient returns a client of a server at url, closed when the test ends.
func newClient(t testing.TB, url string, m llm.Model) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{BaseURL: url, APIKey: secret, Model: m, Whole: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// noLeak fails the test if goroutines started by it are left when it ends.
func noLeak(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 3000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		buf := make([]byte, 1<<20)
		t.Errorf("goroutines: %d before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
	})
}

// serve starts a server that spoils every request in one way.
func serve(t *testing.T, cfg llmtest.Config) *llmtest.Server {
	t.Helper()
	srv := llmtest.NewServer(cfg)
	t.Cleanup(srv.Close)
	return srv
}

// refusedURL returns a URL whose port refuses connections as long as the test runs: one end of a
// connection holds it, so that nobody else can come to listen there.
func refusedURL(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return "http://" + conn.LocalAddr().String() + "/v1"
}

func always(f llmtest.Fault) func(llmtest.Request) llmtest.Fault {
	return func(llmtest.Request) llmtest.Fault { return f }
}

// A faultCase is what becomes of a request that the server spoils in one way.
type faultCase struct {
	fault       llmtest.Fault
	kind        string // "" for an answer
	code        int
	finish      string
	usage       *llm.Usage
	says        string // part of the message
	unavailable bool
	retryAfter  time.Duration
}

var counted = &llm.Usage{PromptTokens: 9, CompletionTokens: 4}

var faultCases = []faultCase{
	{fault: "", finish: "stop", usage: counted},
	{fault: "no usage", finish: "stop"},
	{fault: "negative usage", finish: "stop"},
	{fault: "wrong-typed usage", finish: "stop"},
	{fault: "cached above prompt", finish: "stop", usage: &llm.Usage{PromptTokens: 9, CachedTokens: 9,
		CompletionTokens: 4}},
	{fault: "length", finish: "length", usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 2}},
	{fault: "empty length", kind: llm.KindBrokenReply, code: 200, finish: "length",
		usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 16}, says: `empty content, finish reason "length"`},
	{fault: "null content", kind: llm.KindBrokenReply, code: 200, finish: "stop", usage: counted,
		says: `no content, finish reason "stop"`},
	{fault: "no choices", kind: llm.KindBrokenReply, code: 200, usage: counted, says: `no choices: {"id":"chatcmpl-`},
	{fault: "malformed JSON", kind: llm.KindBrokenReply, code: 200,
		says: `malformed JSON, unexpected end of JSON input: {"id":"chatcmpl-`},
	{fault: "wrong-typed JSON", kind: llm.KindBrokenReply, code: 200, says: `wrong-typed JSON, choices is a string`},
	{fault: "html 200", kind: llm.KindBrokenReply, code: 200,
		says: "an HTML page instead of JSON: Sign in Please sign in to go on."},
	{fault: "200 with error object", kind: llm.KindServer, code: 200, says: "502 Bad Gateway: Upstream provider failed"},
	{fault: "429", kind: llm.KindRateLimit, code: 429, says: "Rate limit reached"},
	{fault: "429 retry-after", kind: llm.KindRateLimit, code: 429, retryAfter: 3 * time.Second},
	{fault: "429 retry-after date", kind: llm.KindRateLimit, code: 429, retryAfter: 3 * time.Second},
	{fault: "429 no quota", kind: llm.KindAuth, code: 429, says: "current quota", unavailable: true},
	{fault: "401", kind: llm.KindAuth, code: 401, says: "check the key in Config.APIKey", unavailable: true},
	{fault: "403", kind: llm.KindAuth, code: 403, says: "may not use", unavailable: true},
	{fault: "404", kind: llm.KindNotFound, code: 404, says: `the model name "Qwen/Qwen3-8B"`, unavailable: true},
	{fault: "400", kind: llm.KindBadRequest, code: 400, says: "temperature must be"},
	{fault: "400 context length", kind: llm.KindContextLength, code: 400, says: "32768 tokens"},
	{fault: "500", kind: llm.KindServer, code: 500, says: "CUDA error"},
	{fault: "500 error text", kind: llm.KindServer, code: 500, says: "the runner has stopped"},
	{fault: "500 html", kind: llm.KindServer, code: 500,
		says: "500 Internal Server Error: 500 Internal Server Error nginx"},
	{fault: "503", kind: llm.KindServer, code: 503, says: "overloaded"},
	{fault: "503 text", kind: llm.KindServer, code: 503, says: "no healthy upstream"},
	{fault: "408", kind: llm.KindServer, code: 408},
	{fault: "reset", kind: llm.KindConnection, says: "the connection broke: read: connection reset by peer"},
	{fault: "cut body", kind: llm.KindConnection, says: "unexpected EOF"},
}

func TestFaults(t *testing.T) {
	for _, tt := range faultCases {
		t.Run(string(tt.fault), func(t *testing.T) {
			noLeak(t)
			srv := serve(t, llmtest.Config{Fault: always(tt.fault), Key: secret, RetryAfter: 3 * time.Second})
			reply, err := newClient(t, srv.URL, model).Generate(t.Context(), request)
			tt.checkAttempt(t, reply.Attempts, srv.URL)
			if tt.kind == "" {
				if err != nil || reply.Text == "" {
					t.Errorf("reply %q, error %v", reply.Text, err)
				}
			} else {
				tt.checkError(t, err, srv.URL)
			}
			if n := srv.Stats().Calls; n != 1 {
				t.Errorf("%d calls at the server, want 1: retries are not the client's job", n)
			}
		})
	}
}

func (tt faultCase) checkAttempt(t *testing.T, got []llm.Attempt, url string) {
	t.Helper()
	want := llm.Attempt{
		Status: llm.OK, Kind: tt.kind, Usage: tt.usage, MaxTokens: 16000, FinishReason: tt.finish,
		Model: "qwen3-8b", ActiveParams: model.ActiveParams, Endpoint: url,
	}
	if tt.kind != "" {
		want.Status = llm.Failed
	}
	if diff := cmp.Diff([]llm.Attempt{want}, got, cmpopts.IgnoreFields(llm.Attempt{}, "Latency", "Err")); diff != "" {
		t.Fatalf("attempts (-want +got):\n%s", diff)
	}
	if a := got[0]; (a.Err == "") != (tt.kind == "") || a.Latency <= 0 {
		t.Errorf("error %q and latency %v for status %s", a.Err, a.Latency, a.Status)
	}
}

func (tt faultCase) checkError(t *testing.T, err error, url string) {
	t.Helper()
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Kind != tt.kind || e.Code != tt.code || e.RetryAfter != tt.retryAfter || e.Endpoint != url {
		t.Errorf("error %#v", err)
	}
	checkMessage(t, err, url, tt.says)
	if llm.Unavailable(err) != tt.unavailable {
		t.Errorf("Unavailable is %v", !tt.unavailable)
	}
}

// checkMessage wants one clear line that names the URL and keeps the key to itself.
func checkMessage(t *testing.T, err error, url, says string) {
	t.Helper()
	msg := err.Error()
	if !strings.Contains(msg, url) || !strings.Contains(msg, says) {
		t.Errorf("message %q, want it to name %s and say %q", msg, url, says)
	}
	if strings.Contains(msg, "\n") || len(msg) > 800 || strings.Contains(msg, secret) {
		t.Errorf("message %q: want one line of bounded length without the key", msg)
	}
}

// Calls that end by a limit end at it, on both sides, and are told apart. Since these tests wait for limits, they wait
// together.
func TestLimits(t *testing.T) {
	noLeak(t)
	t.Run("", func(t *testing.T) {
		for reason, test := range map[string]func(*testing.T){
			"a timeout is canceled at the server":         testTimeoutIsCancelled,
			"a cancellation is no timeout":                testCancelIsNotATimeout,
			"a stream that stalls is cut at once":         testStreamedStalls,
			"what was streamed before an end is kept":     testStreamedTimeoutAndCancel,
			"an endless stream is bounded":                testEndlessStreams,
			"a stack that tries again records every call": testRetryStack,
		} {
			t.Run(reason, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	})
}

func testTimeoutIsCancelled(t *testing.T) {
	for _, fault := range []llmtest.Fault{"hang", "hang body"} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			srv := serve(t, llmtest.Config{Fault: always(fault)})
			m := model
			m.Timeout, m.MaxTokens = 2*time.Second, 777
			reply, err := newClient(t, srv.URL, m).Generate(t.Context(), request)
			a := reply.Attempts[0]
			if a.Status != llm.Timeout || a.MaxTokens != 777 || a.Usage != nil || a.Kind != "" || a.Unsent ||
				a.Latency < m.Timeout {
				t.Errorf("attempt %+v", a)
			}
			if llm.StatusOf(err) != llm.Timeout || !errors.Is(err, context.DeadlineExceeded) || llm.Unavailable(err) {
				t.Errorf("error %v", err)
			}
			checkMessage(t, err, srv.URL, "no answer within 2s")
			wantGone(t, srv, fault)
		})
	}
}

// wantGone waits until the server has noticed that its one client left.
func wantGone(t *testing.T, srv *llmtest.Server, fault llmtest.Fault) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := srv.Drain(ctx); err != nil {
		t.Fatalf("the server still waits for a client that left: %v", err)
	}
	gone := srv.Stats().Gone
	if len(gone) != 1 || gone[0].Fault != fault || gone[0].Seed != 40 || gone[0].After <= 0 {
		t.Errorf("clients that left: %+v, want the one", gone)
	}
}

func testCancelIsNotATimeout(t *testing.T) {
	type ctxFunc func(context.Context, *llmtest.Server) (context.Context, context.CancelFunc)
	for _, tt := range []struct {
		reason string
		ctx    ctxFunc
		is     error
		says   string
	}{
		{"Ctrl-C", func(ctx context.Context, srv *llmtest.Server) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			go func() {
				for srv.Stats().InFlight == 0 && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				cancel(errors.New("interrupted"))
			}()
			return ctx, func() { cancel(nil) }
		}, context.Canceled, "(interrupted)"},
		{"the caller's deadline, not the model's", func(ctx context.Context, _ *llmtest.Server) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second)
		}, context.DeadlineExceeded, "the caller gave up"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, llmtest.Config{Fault: always("hang")})
			ctx, cancel := tt.ctx(t.Context(), srv)
			defer cancel()
			reply, err := newClient(t, srv.URL, model).Generate(ctx, request)
			if len(reply.Attempts) != 1 || reply.Attempts[0].Status != llm.Canceled {
				t.Errorf("attempts %+v, want one that was canceled", reply.Attempts)
			}
			if llm.StatusOf(err) != llm.Canceled || !errors.Is(err, tt.is) {
				t.Errorf("error %v", err)
			}
			checkMessage(t, err, srv.URL, tt.says)
			wantGone(t, srv, "hang")
		})
	}
}

func TestEndedContextSendsNothing(t *testing.T) {
	srv := serve(t, llmtest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reply, err := newClient(t, srv.URL, model).Generate(ctx, request)
	if !errors.Is(err, context.Canceled) || len(reply.Attempts) != 0 || srv.Stats().Calls != 0 {
		t.Errorf("error %v, attempts %v, %d calls", err, reply.Attempts, srv.Stats().Calls)
	}
}

func TestNothingThere(t *testing.T) {
	refused := refusedURL(t)
	tlsURL := strings.Replace(serve(t, llmtest.Config{}).URL, "http:", "https:", 1)
	unknown := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "typo.example", IsNotFound: true}}
	}}}
	for _, tt := range []struct {
		reason, url string
		client      *http.Client
		says        string
	}{
		{"refused", refused, nil, "nothing answers: dial tcp"},
		{"HTTPS asked of an HTTP server", tlsURL, nil, "no secure connection"},
		{"no such host", "http://typo.example/v1", unknown, "no such host"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			noLeak(t)
			c, err := openai.New(openai.Config{BaseURL: tt.url, Model: model, Whole: true, HTTPClient: tt.client})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			reply, err := c.Generate(t.Context(), request)
			if !llm.Unavailable(err) {
				t.Errorf("error %v: want it to stop the run", err)
			}
			checkMessage(t, err, tt.url, tt.says)
			checkMessage(t, err, tt.url, "check that the server is running and the URL in Config.BaseURL")
			if len(reply.Attempts) != 1 || reply.Attempts[0].Kind != llm.KindRefused || !reply.Attempts[0].Unsent {
				t.Errorf("attempts %+v", reply.Attempts)
			}
		})
	}
}

func TestWrongPathSaysWhatToCheck(t *testing.T) {
	srv := serve(t, llmtest.Config{})
	base := strings.TrimSuffix(srv.URL, "/v1")
	_, err := newClient(t, base, model).Generate(t.Context(), request)
	if !llm.Unavailable(err) {
		t.Errorf("error %v", err)
	}
	checkMessage(t, err, base, "usually ends in /v1")
}

func testRetryStack(t *testing.T) {
	faults := []llmtest.Fault{"500", "hang"}
	srv := serve(t, llmtest.Config{Fault: func(r llmtest.Request) llmtest.Fault {
		if r.Occurrence < len(faults) {
			return faults[r.Occurrence]
		}
		return ""
	}})
	m := model
	m.Timeout = 3 * time.Second
	stack := llm.Retry(llm.Limit(newClient(t, srv.URL, m), 2), llm.RetryConfig{Wait: time.Millisecond})
	reply, err := stack.Generate(t.Context(), request)
	if err != nil || reply.Text != echoed {
		t.Fatalf("reply %q, error %v", reply.Text, err)
	}
	var got []llm.Status
	for _, a := range reply.Attempts {
		got = append(got, a.Status)
	}
	if diff := cmp.Diff([]llm.Status{llm.Failed, llm.Timeout, llm.OK}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestManyInFlightAgreeWithTheServer(t *testing.T) {
	noLeak(t)
	var hung atomic.Int64
	mix := llmtest.Must("30% reset|cut body|500|html 200|hang")
	srv := serve(t, llmtest.Config{Latency: llmtest.Constant(5 * time.Millisecond),
		Fault: func(r llmtest.Request) llmtest.Fault {
			f := mix(r)
			if f == "hang" {
				hung.Add(1)
			}
			return f
		}})
	c := newClient(t, srv.URL, model)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const calls = 200
	statuses := make(chan llm.Status, calls)
	for i := range calls {
		go func() {
			req := request
			req.Seed = uint32(i)
			reply, err := c.Generate(ctx, req)
			if len(reply.Attempts) != 1 || reply.Attempts[0].Status != llm.StatusOf(err) {
				t.Errorf("attempts %+v for error %v", reply.Attempts, err)
			}
			statuses <- llm.StatusOf(err)
		}()
	}
	for s := srv.Stats(); s.Calls < calls || s.InFlight > int(hung.Load()); s = srv.Stats() {
		time.Sleep(time.Millisecond)
	}
	count := map[llm.Status]int{}
	for range calls - int(hung.Load()) {
		count[<-statuses]++
	}
	cancel() // only those that hang are left
	for range hung.Load() {
		count[<-statuses]++
	}
	srv.Drain(t.Context())
	s := srv.Stats()
	failed := s.Faults["reset"] + s.Faults["cut body"] + s.Faults["500"] + s.Faults["html 200"]
	want := map[llm.Status]int{llm.OK: s.Faults[""], llm.Failed: failed, llm.Canceled: s.Faults["hang"]}
	if diff := cmp.Diff(want, count); diff != "" || s.Calls != calls || len(s.Gone) != int(hung.Load()) {
		t.Errorf("%d calls, %d clients gone; statuses (-server +client):\n%s", s.Calls, len(s.Gone), diff)
	}
	if failed == 0 || hung.Load() == 0 {
		t.Errorf("no fault met: %v", count)
	}
}

func TestCallersHTTPClientIsUsed(t *testing.T) {
	srv := serve(t, llmtest.Config{Fault: always("hang")})
	c, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model, Whole: true,
		HTTPClient: &http.Client{Timeout: 300 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := c.Generate(t.Context(), request)
	if llm.StatusOf(err) != llm.Timeout || reply.Attempts[0].Status != llm.Timeout {
		t.Errorf("error %v: want its own timeout to count as one", err)
	}
}
