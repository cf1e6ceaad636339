package openai_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

func TestNewRejects(t *testing.T) {
	t.Setenv(openai.EnvBase, "")
	t.Setenv(openai.EnvKey, "")
	base := "http://127.0.0.1:8000/v1"
	with := func(change func(*llm.Model)) llm.Model {
		m := model
		change(&m)
		return m
	}
	for _, tt := range []struct {
		reason string
		cfg    openai.Config
		says   string
	}{
		{"no endpoint anywhere", openai.Config{Model: model}, "set LLM_API_BASE"},
		{"blanks only", openai.Config{BaseURL: "  ", Model: model}, "set LLM_API_BASE"},
		{"no scheme", openai.Config{BaseURL: "localhost:8000/v1", Model: model},
			`"localhost:8000/v1" does not start with http://`},
		{"no scheme, an address", openai.Config{BaseURL: "127.0.0.1:8000/v1", Model: model},
			`"127.0.0.1:8000/v1" is malformed`},
		{"another scheme", openai.Config{BaseURL: "ftp://host/v1", Model: model}, `"ftp://host/v1" does not start`},
		{"no host", openai.Config{BaseURL: "http:///v1", Model: model}, `"http:///v1" names no host`},
		{"a port alone", openai.Config{BaseURL: "http://:8000", Model: model}, "names no host"},
		{"a blank in it", openai.Config{BaseURL: "http://host /v1", Model: model}, "white space"},
		{"a line end from a file", openai.Config{BaseURL: base + "\n", Model: model}, "white space"},
		{"a port that is no number", openai.Config{BaseURL: "http://host:80a/v1", Model: model}, "is malformed"},
		{"a port beyond the last", openai.Config{BaseURL: "http://host:70000/v1", Model: model}, "port"},
		{"a query", openai.Config{BaseURL: base + "?version=1", Model: model}, "query"},
		{"a password", openai.Config{BaseURL: "http://me:" + secret + "@host/v1", Model: model},
			`"http://...@host/v1" holds a user name`},
		{"a password in a malformed one", openai.Config{BaseURL: "http://me:" + secret + "@host:x/", Model: model},
			`"http://...@host:x/" is malformed`},
		{"a line end within the key", openai.Config{BaseURL: base, APIKey: secret + "\n2", Model: model},
			"Config.APIKey holds white space"},
		{"no model", openai.Config{BaseURL: base}, "neither a Name nor a Key"},
		{"a temperature below 0", openai.Config{BaseURL: base, Model: with(func(m *llm.Model) { m.Temperature = -1 })},
			"temperature -1"},
		{"a temperature that is no number", openai.Config{BaseURL: base,
			Model: with(func(m *llm.Model) { m.Temperature = math.NaN() })}, "temperature NaN"},
		{"top-p above 1", openai.Config{BaseURL: base, Model: with(func(m *llm.Model) { m.TopP = 1.5 })}, "top-p 1.5"},
		{"no tokens", openai.Config{BaseURL: base, Model: with(func(m *llm.Model) { m.MaxTokens = -1 })}, "max tokens -1"},
		{"no time", openai.Config{BaseURL: base, Model: with(func(m *llm.Model) { m.Timeout = -1 })}, "timeout -1ns"},
		{"no body", openai.Config{BaseURL: base, Model: model, MaxBody: -1}, "MaxBody is -1"},
		{"a field that is the client's own", openai.Config{BaseURL: base, Model: model,
			Extra: map[string]any{"stream": true}}, `Extra holds "stream"`},
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
	t.Setenv(openai.EnvKey, "")
	c, err = openai.New(openai.Config{Model: model})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Generate(t.Context(), request)
	if !llm.Unavailable(err) {
		t.Errorf("error %v, want a missing key to stop the run", err)
	}
	checkMessage(t, err, srv.URL, "no key was sent: set LLM_API_KEY")
}

func TestKeyIsNeverPrinted(t *testing.T) {
	cfg := openai.Config{BaseURL: "http://127.0.0.1:8000/v1", APIKey: secret, Model: model}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stack := llm.Retry(llm.Limit(c, 2), llm.RetryConfig{})
	js, err := json.Marshal(openai.Config{APIKey: secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{cfg, &cfg, c, *c, stack, []any{cfg, c}} {
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

func TestServerThatRepeatsTheKey(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		// At the end of what is quoted, where a cut could leave half of it.
		fmt.Fprintf(w, "%s %s", strings.Repeat("x", 110), r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	_, err := newClient(t, srv.URL, model).Generate(t.Context(), request)
	if msg := err.Error(); strings.Contains(msg, secret[:5]) {
		t.Errorf("message %q holds the key or a part of it", msg)
	}
}

// captured sends req and returns the body that arrived.
func captured(t *testing.T, cfg openai.Config, req llm.Request) map[string]any {
	t.Helper()
	var got map[string]any
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		io.WriteString(w, `{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}`)
	}))
	defer srv.Close()
	cfg.BaseURL = srv.URL
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRequestBody(t *testing.T) {
	msgs := []any{
		map[string]any{"role": "system", "content": "Answer in JavaScript"},
		map[string]any{"role": "user", "content": "```js\nf()\n```\n"},
	}
	over := request
	over.Seed, over.Temperature, over.TopP, over.MaxTokens = math.MaxUint32, new(0.0), new(1.0), new(7)
	for _, tt := range []struct {
		reason string
		cfg    openai.Config
		req    llm.Request
		want   map[string]any
	}{
		{"the paper's sampling", openai.Config{Model: model, Whole: true}, request, map[string]any{
			"model": "Qwen/Qwen3-8B", "messages": msgs, "seed": 40.0, "temperature": 0.4, "top_p": 0.95, "max_tokens": 16000.0}},
		{"the request's own, zero and the largest seed included", openai.Config{Model: model, Whole: true}, over,
			map[string]any{
				"model": "Qwen/Qwen3-8B", "messages": msgs, "seed": 4294967295.0, "temperature": 0.0, "top_p": 1.0,
				"max_tokens": 7.0}},
		{"the newer name of the cap, and fields of the endpoint's own",
			openai.Config{Model: model, Whole: true, MaxCompletionTokens: true, Extra: map[string]any{
				"chat_template_kwargs": map[string]any{"enable_thinking": false}}}, request, map[string]any{
				"model": "Qwen/Qwen3-8B", "messages": msgs, "seed": 40.0, "temperature": 0.4, "top_p": 0.95,
				"max_completion_tokens": 16000.0, "chat_template_kwargs": map[string]any{"enable_thinking": false}}},
	} {
		if diff := cmp.Diff(tt.want, captured(t, tt.cfg, tt.req)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

func TestMalformedRequestIsNoAttempt(t *testing.T) {
	srv := serve(t, llmtest.Config{})
	c := newClient(t, srv.URL, model)
	user := []llm.Message{{Role: llm.User, Content: "hi"}}
	for _, tt := range []struct {
		reason string
		req    llm.Request
	}{
		{"no messages", llm.Request{}},
		{"an unknown role", llm.Request{Messages: []llm.Message{{Role: "robot"}}}},
		{"a temperature that is no number", llm.Request{Messages: user, Temperature: new(math.NaN())}},
		{"an infinite top-p", llm.Request{Messages: user, TopP: new(math.Inf(1))}},
		{"no tokens", llm.Request{Messages: user, MaxTokens: new(0)}},
	} {
		reply, err := c.Generate(t.Context(), tt.req)
		if err == nil || llm.Retryable(err) || llm.Unavailable(err) || len(reply.Attempts) != 0 {
			t.Errorf("%s: error %v, %d attempts", tt.reason, err, len(reply.Attempts))
		}
	}
	if n := srv.Stats().Calls; n != 0 {
		t.Errorf("%d of them were sent", n)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	const limit = 1 << 16
	for _, status := range []int{200, 500} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip") // small on the wire
			w.WriteHeader(status)
			z := gzip.NewWriter(w)
			io.WriteString(z, `{"choices": [{"message": {"content": "`)
			for range 1 << 4 { // four times the limit
				if _, err := io.WriteString(z, strings.Repeat("a", 1<<14)); err != nil {
					return
				}
			}
			z.Close()
		}))
		c, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model, MaxBody: limit, Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Generate(t.Context(), request)
		if status == 200 {
			checkMessage(t, err, srv.URL, "longer than Config.MaxBody, 65536 bytes")
		} else {
			checkMessage(t, err, srv.URL, "500 Internal Server Error")
		}
		c.Close()
		srv.Close()
	}
}

func TestBodyOfExactlyTheBound(t *testing.T) {
	body := `{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
	defer srv.Close()
	for _, tt := range []struct {
		max int
		ok  bool
	}{{len(body), true}, {len(body) - 1, false}} {
		c, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model, MaxBody: int64(tt.max), Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.Generate(t.Context(), request); (err == nil) != tt.ok {
			t.Errorf("a body of %d bytes with MaxBody %d: error %v", len(body), tt.max, err)
		}
		c.Close()
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var asked int
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "https://elsewhere.example/v1/", http.StatusMovedPermanently)
	}))
	defer srv.Close()
	_, err := newClient(t, srv.URL, model).Generate(t.Context(), request)
	if !llm.Unavailable(err) || asked != 1 {
		t.Errorf("error %v after %d requests", err, asked)
	}
	checkMessage(t, err, srv.URL, "redirected to https://elsewhere.example/v1/")
}

// A client that follows redirects sends prompt and key to the server that it was given, and to no other.
func TestRedirectsStayWithTheServer(t *testing.T) {
	var strangers atomic.Int32
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
	defer stranger.Close()
	to := stranger.URL
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/moved") {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"choices":[{"message":{"content":"here"},"finish_reason":"stop"}]}`)
			return
		}
		http.Redirect(w, r, to+"/moved"+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer front.Close()
	c, err := openai.New(openai.Config{BaseURL: front.URL + "/v1", APIKey: "secret", Model: model,
		HTTPClient: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Generate(t.Context(), request); !llm.Unavailable(err) || strangers.Load() != 0 {
		t.Errorf("error %v, and %d requests at another server", err, strangers.Load())
	}
	to = front.URL
	if reply, err := c.Generate(t.Context(), request); err != nil || reply.Text != "here" {
		t.Errorf("redirected within the server: %q, %v", reply.Text, err)
	}
}

func TestClosedClientWorksAgain(t *testing.T) {
	srv := serve(t, llmtest.Config{Latency: llmtest.Constant(time.Millisecond)})
	c := newClient(t, srv.URL, model)
	for range 2 {
		if _, err := c.Generate(t.Context(), request); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}
