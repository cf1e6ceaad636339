package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/option"

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

// patient are limits that no test passes by chance.
var patient = openai.Stream{FirstToken: time.Minute, Silence: time.Minute, MinRate: -1}

// open returns a client, closed when the test ends. Its model, key and limits are those above unless cfg has its own.
func open(t testing.TB, url string, cfg openai.Config) *openai.Client {
	t.Helper()
	cfg.BaseURL, cfg.Seed = url, true
	if cfg.APIKey == "" {
		cfg.APIKey = secret
	}
	if cfg.Model == (llm.Model{}) {
		cfg.Model = model
	}
	if cfg.Stream == (openai.Stream{}) {
		cfg.Stream = patient
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// newClient returns a client for answers in one piece.
func newClient(t testing.TB, url string, m llm.Model) *openai.Client {
	t.Helper()
	return open(t, url, openai.Config{Model: m, Whole: true})
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

func serve(t testing.TB, cfg llmtest.Config) *llmtest.Server {
	t.Helper()
	srv := llmtest.NewServer(cfg)
	t.Cleanup(srv.Close)
	return srv
}

func say(text string) func(llmtest.Request) string {
	return func(llmtest.Request) string { return text }
}

func always(f llmtest.Fault) func(llmtest.Request) llmtest.Fault {
	return func(llmtest.Request) llmtest.Fault { return f }
}

// A wire serves a reply as it stands, each part flushed before the next, and keeps what was asked.
type wire struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	urls    []string
}

// newWire answers with the status and parts; "hang" among them waits until the client leaves.
func newWire(t testing.TB, status int, header http.Header, parts ...string) *wire {
	t.Helper()
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.bodies, w.headers, w.urls = append(w.bodies, string(body)), append(w.headers, r.Header), append(w.urls,
			r.URL.String())
		w.mu.Unlock()
		for name := range header {
			rw.Header().Set(name, header.Get(name))
		}
		rw.WriteHeader(status)
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

const wholeAnswer = `{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}`

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

// checkMessage wants one clear line that names the URL and keeps the key to itself.
func checkMessage(t *testing.T, err error, url, says string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", says)
		return
	}
	msg := err.Error()
	if !strings.Contains(msg, url) || !strings.Contains(msg, says) {
		t.Errorf("message %q, want it to name %s and say %q", msg, url, says)
	}
	if strings.Contains(msg, "\n") || len(msg) > 900 || strings.Contains(msg, secret) {
		t.Errorf("message %q: want one line of bounded length without the key", msg)
	}
}

func TestNewRejects(t *testing.T) {
	t.Setenv(openai.EnvBase, "")
	t.Setenv(openai.EnvKey, "")
	base := "http://127.0.0.1:8000/v1"
	for _, tt := range []struct {
		reason string
		cfg    openai.Config
		says   string
	}{
		{"no endpoint anywhere", openai.Config{Model: model}, "Config.BaseURL"},
		{"no scheme", openai.Config{BaseURL: "localhost:8000/v1", Model: model},
			`"localhost:8000/v1": need a URL such as http`},
		{"no scheme, an address", openai.Config{BaseURL: "127.0.0.1:8000/v1", Model: model}, "malformed"},
		{"no host", openai.Config{BaseURL: "http:///v1", Model: model}, `"http:///v1": need`},
		{"a fragment", openai.Config{BaseURL: base + "#1", Model: model}, "need a URL"},
		{"a password", openai.Config{BaseURL: "http://me:" + secret + "@host/v1", Model: model}, "without a user"},
		{"a password in a malformed one", openai.Config{BaseURL: "http://me:" + secret + "@host:x/", Model: model},
			"malformed"},
		{"no model", openai.Config{BaseURL: base}, "neither a Name nor a Key"},
		{"a field that is the client's own", openai.Config{BaseURL: base, Model: model,
			Extra: map[string]any{"stream": true}}, `Extra holds "stream"`},
		{"another cap than the budget reckons with", openai.Config{BaseURL: base, Model: model,
			Extra: map[string]any{"max_tokens": 1}}, `Extra holds "max_tokens"`},
		{"a field that JSON cannot hold", openai.Config{BaseURL: base, Model: model, Extra: map[string]any{"x": math.Inf(1)}},
			"Extra cannot be sent"},
	} {
		c, err := openai.New(tt.cfg)
		if err == nil {
			t.Errorf("%s: no error, got %v", tt.reason, c)
			continue
		}
		msg := err.Error()
		if !strings.HasPrefix(msg, "openai: ") || !strings.Contains(msg, tt.says) || strings.Contains(msg, secret) {
			t.Errorf("%s: %q, want it to say %q and no secret", tt.reason, msg, tt.says)
		}
	}
}

func TestNewReadsTheEnvironment(t *testing.T) {
	srv := serve(t, llmtest.Config{Key: secret})
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1") // another product's: not ours to heed
	t.Setenv("OPENAI_API_KEY", "sk-other")
	t.Setenv(openai.EnvBase, srv.URL+"/chat/completions/")
	t.Setenv(openai.EnvKey, secret+"\n")
	c, err := openai.New(openai.Config{Model: model})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Generate(t.Context(), request); err != nil {
		t.Error(err)
	}
}

func TestKeyIsNeverPrinted(t *testing.T) {
	cfg := openai.Config{BaseURL: "http://127.0.0.1:8000/v1?key=" + secret, APIKey: secret, Model: model}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stack := llm.Retry(llm.Limit(c, 2), llm.RetryConfig{})
	js, err := json.Marshal(openai.Config{APIKey: secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{cfg, &cfg, c, stack, []any{cfg, c}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, secret) {
				t.Errorf("%s of %T prints the key: %s", verb, v, s)
			}
		}
	}
	if strings.Contains(string(js), secret) {
		t.Errorf("JSON holds the key: %s", js)
	}
}

// What a request has on the wire: nothing that was not asked for.
func TestRequests(t *testing.T) {
	over, bare := request, request
	over.Seed, over.Temperature, over.TopP, over.MaxTokens = math.MaxUint32, new(0.0), new(1.0), new(7)
	paper := llm.PaperSampling(model)
	bare.Messages = request.Messages[1:]
	msgs := []any{
		map[string]any{"role": "system", "content": "Answer in JavaScript"},
		map[string]any{"role": "user", "content": "```js\nf()\n```\n"},
	}
	streams := map[string]any{"stream": true,
		"stream_options": map[string]any{"include_usage": true, "continuous_usage_stats": true}}
	for _, tt := range []struct {
		reason string
		cfg    openai.Config
		req    llm.Request
		want   map[string]any // beside model and messages
	}{
		{"the cap alone", openai.Config{Model: model, Whole: true}, request, map[string]any{"max_tokens": 16000.0}},
		{"a stream", openai.Config{Model: model}, request, map[string]any{"max_tokens": 16000.0, "stream": true,
			"stream_options": streams["stream_options"]}},
		{"the paper's sampling", openai.Config{Model: paper, Whole: true, Seed: true}, request,
			map[string]any{"seed": 40.0, "temperature": 0.4, "top_p": 0.95, "max_tokens": 16000.0}},
		{"the request's own, zero and the largest seed included", openai.Config{Model: paper, Whole: true, Seed: true}, over,
			map[string]any{"seed": 4294967295.0, "temperature": 0.0, "top_p": 1.0, "max_tokens": 7.0}},
		{"what the user leaves out", openai.Config{Model: paper, Seed: true,
			Omit: []string{"max_tokens", "seed", "temperature", "top_p", "stream_options"}}, over,
			map[string]any{"max_completion_tokens": 7.0, "stream": true}},
		{"fields of the endpoint's own, and other options of a stream", openai.Config{Model: model, Extra: map[string]any{
			"chat_template_kwargs": map[string]any{"enable_thinking": false}, "stream_options": map[string]any{"x": 1}}},
			request,
			map[string]any{"max_tokens": 16000.0, "stream": true, "stream_options": map[string]any{"x": 1.0},
				"chat_template_kwargs": map[string]any{"enable_thinking": false}}},
		{"options of a stream are not sent without one", openai.Config{Model: model, Whole: true,
			Extra: map[string]any{"stream_options": 1}}, request, map[string]any{"max_tokens": 16000.0}},
	} {
		w := newWire(t, 200, nil, wholeAnswer)
		tt.cfg.BaseURL = w.URL
		c, err := openai.New(tt.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Generate(t.Context(), tt.req); err != nil {
			t.Fatal(err)
		}
		c.Close()
		var got map[string]any
		if err := json.Unmarshal([]byte(w.bodies[0]), &got); err != nil {
			t.Fatal(err)
		}
		tt.want["model"], tt.want["messages"] = "Qwen/Qwen3-8B", msgs
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// The query of the base and the headers of Options are sent with each request, and Azure's key in its own header.
func TestBasesAndHeaders(t *testing.T) {
	for _, tt := range []struct{ reason, path, wantURL, bearer, apiKey string }{
		{"the usual", "/v1", "/v1/chat/completions", "Bearer " + secret, ""},
		{"a slash, and the path that the client adds", "/v1/chat/completions/", "/v1/chat/completions", "Bearer " + secret,
			""},
		{"Azure's deployments", "/openai/deployments/m?api-version=2024-06-01",
			"/openai/deployments/m/chat/completions?api-version=2024-06-01", "", secret},
		{"another query", "/v1?a=b+c&d=e", "/v1/chat/completions?a=b+c&d=e", "Bearer " + secret, ""},
	} {
		w := newWire(t, 200, nil, wholeAnswer)
		c := open(t, w.URL+tt.path, openai.Config{Whole: true,
			Options: []option.RequestOption{option.WithHeader("X-Team", "a")}})
		reply, err := c.Generate(t.Context(), request)
		if err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		h := w.headers[0]
		if w.urls[0] != tt.wantURL || h.Get("Authorization") != tt.bearer || h.Get("Api-Key") != tt.apiKey ||
			h.Get("X-Team") != "a" {
			t.Errorf("%s: %s with %v", tt.reason, w.urls[0], h)
		}
		if strings.Contains(reply.Attempts[0].Endpoint, "?") {
			t.Errorf("%s: the attempt names %s", tt.reason, reply.Attempts[0].Endpoint)
		}
	}
}

func TestMalformedRequestIsNoAttempt(t *testing.T) {
	srv := serve(t, llmtest.Config{})
	c := newClient(t, srv.URL, model)
	user := []llm.Message{{Role: llm.User, Content: "hi"}}
	for reason, req := range map[string]llm.Request{
		"no messages":                        {},
		"an unknown role":                    {Messages: []llm.Message{{Role: "robot"}}},
		"a temperature that is no number":    {Messages: user, Temperature: new(math.NaN())},
		"an infinite top-p":                  {Messages: user, TopP: new(math.Inf(1))},
		"no tokens":                          {Messages: user, MaxTokens: new(0)},
		"a tool without a name":              {Messages: user, Tools: []llm.Tool{{}}},
		"parameters of a tool that are none": {Messages: user, Tools: []llm.Tool{{Name: "f", Parameters: "[]"}}},
		"parameters of a tool that are cut":  {Messages: user, Tools: []llm.Tool{{Name: "f", Parameters: `{"a":`}}},
	} {
		reply, err := c.Generate(t.Context(), req)
		if err == nil || llm.Retryable(err) || llm.Unavailable(err) || len(reply.Attempts) != 0 {
			t.Errorf("%s: error %v, %d attempts", reason, err, len(reply.Attempts))
		}
	}
	if n := srv.Stats().Calls; n != 0 {
		t.Errorf("%d of them were sent", n)
	}
}
