package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
)

// secret stands for the key of an endpoint, which errors of a model may hold.
const secret = "sk-the-endpoints-own-key"

// An asker is the Ask of a session that records what it is asked.
type asker struct {
	mu   sync.Mutex
	reqs []llm.Request
	do   func(context.Context, llm.Request) (llm.Reply, error)
}

func (a *asker) ask(ctx context.Context, req llm.Request) (llm.Reply, error) {
	a.mu.Lock()
	a.reqs = append(a.reqs, req)
	a.mu.Unlock()
	return a.do(ctx, req)
}

func (a *asker) asked() []llm.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]llm.Request(nil), a.reqs...)
}

func listen(t *testing.T, cfg gateway.Config) *gateway.Gateway {
	t.Helper()
	g, err := gateway.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// open opens a session on a gateway of its own, whose Ask is do.
func open(t *testing.T, cfg gateway.Config, do func(context.Context, llm.Request) (llm.Reply, error)) (*gateway.Session, *asker) {
	t.Helper()
	a := &asker{do: do}
	return listen(t, cfg).Open(gateway.SessionConfig{Ask: a.ask, Model: "small", Seed: 7}), a
}

// says answers with text, and a usage of which 4 tokens of 10 were cached.
func says(text string, calls ...llm.ToolCall) func(context.Context, llm.Request) (llm.Reply, error) {
	return func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: text, Calls: calls, Attempts: []llm.Attempt{{
			Status: llm.OK, FinishReason: "stop", Usage: &llm.Usage{PromptTokens: 10, CachedTokens: 4, CompletionTokens: 3},
		}}}, nil
	}
}

func fails(err error) func(context.Context, llm.Request) (llm.Reply, error) {
	return func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, err }
}

// A client of one session, with headers of its own.
type client struct {
	t      *testing.T
	s      *gateway.Session
	header map[string]string
}

func (c client) request(ctx context.Context, method, path, body string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, method, c.s.BaseURL()+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", c.s.Token())
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	if host := c.header["Host"]; host != "" {
		req.Host = host
	}
	return req
}

func (c client) do(method, path, body string) (*http.Response, string) {
	c.t.Helper()
	resp, err := http.DefaultClient.Do(c.request(c.t.Context(), method, path, body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, string(text)
}

const (
	chatBody     = `{"model":"gpt","messages":[{"role":"user","content":"hi"}]}`
	messagesBody = `{"model":"claude","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`
	chatPath     = "/v1/chat/completions"
	messagesPath = "/v1/messages"
)

func TestWhoIsServed(t *testing.T) {
	s, a := open(t, gateway.Config{}, says("hello"))
	closed := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: a.ask})
	closed.Close()
	for _, tt := range []struct {
		reason       string
		s            *gateway.Session
		method, path string
		header       map[string]string
		status       int
	}{
		{"a key in X-Api-Key", s, "POST", messagesPath, nil, 200},
		{"a bearer token", s, "POST", chatPath, map[string]string{"X-Api-Key": "", "Authorization": "Bearer " + s.Token()},
			200},
		{"a base URL that ends in /v1", s, "POST", "/v1" + messagesPath, nil, 200},
		{"a base URL that does not", s, "POST", "/chat/completions", nil, 200},
		{"no token", s, "POST", messagesPath, map[string]string{"X-Api-Key": ""}, 401},
		{"half a token", s, "POST", messagesPath, map[string]string{"X-Api-Key": s.Token()[:20]}, 401},
		{"another session's token", s, "POST", chatPath, map[string]string{"X-Api-Key": closed.Token()}, 401},
		{"a session that has ended", closed, "POST", chatPath, nil, 403},
		{"a path that is not served", s, "POST", "/v1/embeddings", nil, 404},
		{"a method that is not served", s, "GET", chatPath, nil, 404},
		{"a path that climbs", s, "POST", "/v1/../../etc/passwd", nil, 404},
	} {
		body := chatBody
		if strings.HasSuffix(tt.path, "messages") {
			body = messagesBody
		}
		resp, text := client{t, tt.s, tt.header}.do(tt.method, tt.path, body)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: %d %s", tt.reason, resp.StatusCode, text)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: a page may read it", tt.reason)
		}
		if tt.status != 200 {
			checkError(t, tt.reason, resp, text)
		}
	}
}

// checkError checks that an error is one in both dialects, and not retried.
func checkError(t *testing.T, reason string, resp *http.Response, text string) {
	t.Helper()
	var e struct {
		Type  string
		Error struct{ Type, Message string }
	}
	err := json.Unmarshal([]byte(text), &e)
	if err != nil || e.Type != "error" || e.Error.Type == "" || e.Error.Message == "" ||
		resp.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%s: %v in %s, X-Should-Retry %q", reason, err, text, resp.Header.Get("X-Should-Retry"))
	}
}

func TestModels(t *testing.T) {
	s, _ := open(t, gateway.Config{}, says("hello"))
	for _, path := range []string{"/v1/models", "/v1/models/small"} {
		if resp, text := (client{t, s, nil}).do("GET", path, ""); resp.StatusCode != 200 ||
			!strings.Contains(text, `"id":"small"`) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
	if env := strings.Join(s.Env(), "\n"); strings.Count(env, s.Token()) != 2 ||
		strings.Count(env, s.BaseURL()+"/v1\n") != 2 {
		t.Errorf("environment %s", env)
	}
}

// What a request of either dialect becomes.
func TestRequests(t *testing.T) {
	temperature, topP, most := 0.5, 0.9, 100
	tool := llm.Tool{Name: "read", Description: "Reads.", Parameters: `{"type":"object"}`}
	call := llm.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a"}`}
	for _, tt := range []struct {
		reason, path, body string
		want               llm.Request
	}{
		{"OpenAI's", chatPath, `{"model":"x","seed":-1,"temperature":0.5,"top_p":0.9,"max_completion_tokens":100,"user":"u","reasoning_effort":"low",
			"messages":[{"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
			{"role":"user","content":"q","name":"n"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},
			{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"r"}]}],
			"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object"},"strict":true}}],
			"tool_choice":"auto","response_format":{"type":"text"},"n":1,"stop":null}`,
			llm.Request{Seed: 1<<32 - 1, Temperature: &temperature, TopP: &topP, MaxTokens: &most, Tools: []llm.Tool{tool},
				Messages: []llm.Message{
					{Role: "system", Content: "a\nb"}, {Role: "user", Content: "q"},
					{Role: "assistant", Calls: []llm.ToolCall{call}}, {Role: "tool", CallID: "c1", Content: "r"},
				}}},
		{"Anthropic's", messagesPath, `{"model":"x","max_tokens":100,"temperature":0.5,"top_p":0.9,"top_k":4,"metadata":{"user_id":"u"},
			"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}],"thinking":{"type":"disabled"},
			"messages":[{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."},
				{"type":"tool_use","id":"c1","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"read","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"},{"type":"text","text":"s"}]},
				{"type":"tool_result","tool_use_id":"c2","content":"no such file","is_error":true},{"type":"tool_result","tool_use_id":"c3"},{"type":"text","text":"go on"}]}],
			"tools":[{"name":"read","description":"Reads.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],
			"tool_choice":{"type":"auto"}}`,
			llm.Request{Temperature: &temperature, TopP: &topP, MaxTokens: &most, Tools: []llm.Tool{tool},
				Messages: []llm.Message{
					{Role: "system", Content: "a\nb"}, {Role: "user", Content: "q"},
					{Role: "assistant", Content: "I look.", Calls: []llm.ToolCall{call, {ID: "c2", Name: "read", Arguments: "{}"}}},
					{Role: "tool", CallID: "c1", Content: "r\ns"}, {Role: "tool", CallID: "c2", Content: "error: no such file"},
					{Role: "tool", CallID: "c3"}, {Role: "user", Content: "go on"},
				}}},
		{"results alone, and a system prompt that is a text", messagesPath, `{"max_tokens":100,"system":"a","messages":[
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}]}`,
			llm.Request{MaxTokens: &most, Messages: []llm.Message{{Role: "system", Content: "a"},
				{Role: "tool", CallID: "c1", Content: "r"}}}},
	} {
		s, a := open(t, gateway.Config{}, says("hello"))
		resp, text := client{t, s, nil}.do("POST", tt.path, tt.body)
		if resp.StatusCode != 200 || len(a.asked()) != 1 {
			t.Fatalf("%s: %d %s", tt.reason, resp.StatusCode, text)
		}
		got := a.asked()[0]
		if tt.want.Seed == 0 {
			got.Seed = 0
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// What cannot be passed on is refused, with the place in the request, and costs no call.
func TestRefusals(t *testing.T) {
	s, a := open(t, gateway.Bounded(1<<16, 0, 0), says("hello"))
	chat := func(fields string) string { return strings.TrimSuffix(chatBody, "}") + "," + fields + "}" }
	messages := func(fields string) string { return strings.TrimSuffix(messagesBody, "}") + "," + fields + "}" }
	user := func(content string) string {
		return `{"max_tokens":9,"messages":[{"role":"user","content":` + content + `}]}`
	}
	for _, tt := range []struct {
		path, body string
		status     int
		says       string
	}{
		{chatPath, `{`, 400, "not JSON"},
		{chatPath, `[]`, 400, "a array is of no use there"},
		{chatPath, `{}`, 400, "messages: at least one"},
		{messagesPath, `{"system":"a"}`, 400, "messages: at least one"},
		{chatPath, chat(`"n":2`), 400, "n: only one choice"},
		{chatPath, chat(`"tool_choice":"required"`), 400, "tool_choice"},
		{chatPath, chat(`"response_format":{"type":"json_schema"}`), 400, "response_format"},
		{chatPath, chat(`"max_tokens":0`), 400, "max_tokens: at least 1"},
		{chatPath, chat(`"temperature":"hot"`), 400, "temperature: a string"},
		{chatPath, chat(`"tools":[{"type":"web_search"}]`), 400,
			`tools[0]: only functions with a name are known, and not the type "web_search"`},
		{chatPath, chat(`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`), 400,
			"tools[0].function.parameters"},
		{chatPath, user(`[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:"}}]`), 400,
			`messages[0]: content[1]: a part of the type "image_url"`},
		{chatPath, `{"messages":[{"role":"function","content":"x"}]}`, 400, `the role "function" is not known`},
		{chatPath, `{"messages":[{"role":"tool","content":"x"}]}`, 400, "without tool_call_id"},
		{chatPath, `{"messages":[{"role":"user","content":"x","tool_calls":[{"id":"a","function":{"name":"f"}}]}]}`, 400,
			"messages[0]: tool_calls"},
		{messagesPath, messages(`"tool_choice":{"type":"any"}`), 400, "tool_choice"},
		{messagesPath, messages(`"tools":[{"type":"bash_20250124","name":"bash"}]`), 400, `tools.0: only custom tools`},
		{messagesPath, messages(`"system":[{"type":"image"}]`), 400, "system: content[0]"},
		{messagesPath, user(`[{"type":"image","source":{}}]`), 400, `messages.0: content.0: a part of the type "image"`},
		{messagesPath, user(`[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image"}]}]`), 400,
			`content.0: content[0]: a part of the type "image"`},
		{messagesPath, user(`[{"type":"tool_use","id":"a","name":"f"}]`), 400, "tool_use"},
		{messagesPath, `{"messages":[{"role":"tool","content":"x"}]}`, 400, `the role "tool"`},
		{chatPath, `{"messages":"` + strings.Repeat("x", 1<<17) + `"}`, 413, "longer than 65536 bytes"},
		{chatPath, strings.Repeat("[", 1<<15), 400, "deeper than 64"},
		{chatPath, `{"messages":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, 400, "deeper than 64"},
	} {
		resp, text := client{t, s, nil}.do("POST", tt.path, tt.body)
		if resp.StatusCode != tt.status || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), tt.says) {
			t.Errorf("%.80s: %d %s, want %d %s", tt.body, resp.StatusCode, text, tt.status, tt.says)
		}
		checkError(t, tt.body[:min(40, len(tt.body))], resp, text)
	}
	if resp, text := (client{t, s, map[string]string{"Content-Encoding": "gzip"}}).do("POST", chatPath,
		"\x1f\x8b"); resp.StatusCode != 400 {
		t.Errorf("compressed: %d %s", resp.StatusCode, text)
	}
	if n := len(a.asked()); n > 0 {
		t.Errorf("%d calls", n)
	}
}

// What clients are told of errors of Ask, and that no text of them reaches a client.
func TestErrors(t *testing.T) {
	failed := func(kind string) error {
		return &llm.Error{Status: llm.Failed, Kind: kind, RetryAfter: 1500 * time.Millisecond, Err: errors.New(secret)}
	}
	for _, tt := range []struct {
		reason         string
		err            error
		chat, messages int
		kind           string
	}{
		{"a budget that is spent", errors.New("evolve: the budget is spent " + secret), 403, 403, "permission_error"},
		{"a run that is ending", llm.ErrDraining, 403, 403, "permission_error"},
		{"a run that was canceled", context.Canceled, 403, 403, "permission_error"},
		{"a call that was canceled", &llm.Error{Status: llm.Canceled, Err: context.Canceled}, 403, 403, "permission_error"},
		{"a wrong key", failed(llm.KindAuth), 403, 403, "permission_error"},
		{"nothing there", failed(llm.KindRefused), 403, 403, "permission_error"},
		{"a prompt that does not fit", failed(llm.KindContextLength), 400, 400, "invalid_request_error"},
		{"a request that the endpoint refuses", failed(llm.KindBadRequest), 400, 400, "invalid_request_error"},
		{"too many requests", failed(llm.KindRateLimit), 429, 429, "rate_limit_error"},
		{"a server's error", failed(llm.KindServer), 503, 529, "overloaded_error"},
		{"a broken reply", failed(llm.KindBrokenReply), 503, 529, "overloaded_error"},
		{"a stall", &llm.Error{Status: llm.Stalled, Err: errors.New(secret)}, 503, 529, "overloaded_error"},
	} {
		s, _ := open(t, gateway.Config{}, fails(tt.err))
		for path, status := range map[string]int{chatPath: tt.chat, messagesPath: tt.messages} {
			resp, text := client{t, s, nil}.do("POST", path, messagesBody)
			if resp.StatusCode != status || !strings.Contains(text, `"type":"`+tt.kind+`"`) || strings.Contains(text, secret) {
				t.Errorf("%s: %d %s", tt.reason, resp.StatusCode, text)
			}
			if status < 429 {
				checkError(t, tt.reason, resp, text)
			} else if resp.Header.Get("X-Should-Retry") != "true" || resp.Header.Get("Retry-After") != "2" &&
				tt.reason != "a stall" {
				t.Errorf("%s: headers %v", tt.reason, resp.Header)
			}
		}
	}
	long := &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, RetryAfter: 720 * time.Hour, Err: errors.New(secret)}
	s, _ := open(t, gateway.Config{}, fails(long))
	if resp, _ := (client{t, s, nil}).do("POST", chatPath, chatBody); resp.Header.Get("Retry-After") != "60" {
		t.Errorf("an endpoint that wants to rest for a month: headers %v", resp.Header)
	}
	s, _ = open(t, gateway.Config{}, func(context.Context, llm.Request) (llm.Reply, error) { panic(secret) })
	if resp, text := (client{t, s, nil}).do("POST", chatPath, chatBody); resp.StatusCode != 403 ||
		strings.Contains(text, secret) {
		t.Errorf("a panic: %d %s", resp.StatusCode, text)
	}
}

func TestBoundsOfASession(t *testing.T) {
	a := &asker{do: says("hello")}
	s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: a.ask, MaxTokens: 50})
	for i := range 2 {
		if resp, text := (client{t, s, nil}).do("POST", messagesPath, messagesBody); resp.StatusCode != 200 {
			t.Errorf("call %d: %d %s", i, resp.StatusCode, text)
		}
	}
	reqs := a.asked()
	if len(reqs) != 2 || *reqs[0].MaxTokens != 50 {
		t.Fatalf("asked %+v", reqs)
	}
	if reqs[0].Seed == reqs[1].Seed {
		t.Error("the second of two equal requests has the seed of the first")
	}
	again := &asker{do: says("hello")}
	s = listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: again.ask})
	client{t, s, nil}.do("POST", messagesPath, messagesBody)
	if again.asked()[0].Seed != reqs[0].Seed {
		t.Error("a session that is made again asks with another seed")
	}
}

func TestCountsTokens(t *testing.T) {
	s, a := open(t, gateway.Config{}, says("hello"))
	resp, text := client{t, s, nil}.do("POST", "/v1/messages/count_tokens?beta=true", messagesBody)
	if resp.StatusCode != 200 || text != `{"input_tokens":17}` || len(a.asked()) > 0 { // (2 + 2·32) / 4
		t.Errorf("%d %s, %d calls", resp.StatusCode, text, len(a.asked()))
	}
}

// held answers when it is released.
type held struct {
	release  chan struct{}
	begun    chan struct{}
	canceled atomic.Int32
}

func hold() *held { return &held{release: make(chan struct{}), begun: make(chan struct{}, 100)} }

func (h *held) ask(ctx context.Context, req llm.Request) (llm.Reply, error) {
	h.begun <- struct{}{}
	select {
	case <-h.release:
		return says("hello")(ctx, req)
	case <-ctx.Done():
		h.canceled.Add(1)
		return llm.Reply{}, ctx.Err()
	}
}

// A client that gave up and asks again gets the answer that its first request is paid for.
func TestRetriesAreNotPaidTwice(t *testing.T) {
	h := hold()
	s, a := open(t, gateway.Config{}, h.ask)
	c := client{t, s, nil}
	ctx, giveUp := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		if resp, err := http.DefaultClient.Do(c.request(ctx, "POST", chatPath, chatBody)); err == nil {
			resp.Body.Close()
			t.Error("answered a client that left")
		}
	}()
	<-h.begun
	giveUp()
	<-left
	await(s, 0, 1)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if resp, text := c.do("POST", chatPath, chatBody); resp.StatusCode != 200 || !strings.Contains(text, "hello") {
				t.Errorf("%d %s", resp.StatusCode, text)
			}
		})
	}
	wg.Go(func() { // another request is another call
		c.do("POST", chatPath, strings.Replace(chatBody, `{"`, `{"temperature":0.5,"`, 1))
	})
	await(s, 4, 0)
	close(h.release)
	wg.Wait()
	if n := len(a.asked()); n != 2 {
		t.Errorf("%d calls for two requests", n)
	}
}

// await waits until so many clients wait, and for so many calls none does.
func await(s *gateway.Session, clients, abandoned int) {
	for {
		if c, a := s.Waiting(); c == clients && a == abandoned {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// An answer that came when its client had left is kept for the retry, and given once.
func TestAnswersAreKeptForARetry(t *testing.T) {
	h := hold()
	s, a := open(t, gateway.Config{}, h.ask)
	c := client{t, s, nil}
	ctx, giveUp := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		http.DefaultClient.Do(c.request(ctx, "POST", messagesPath, messagesBody))
	}()
	<-h.begun
	giveUp()
	<-left
	await(s, 0, 1)
	close(h.release)
	for i, calls := range []int{1, 2} {
		if resp, text := c.do("POST", messagesPath, messagesBody); resp.StatusCode != 200 || len(a.asked()) != calls {
			t.Errorf("request %d: %d %s, %d calls", i, resp.StatusCode, text, len(a.asked()))
		}
	}
}

// Closing a session cancels its calls, tells its clients, and leaves other sessions alone.
func TestClose(t *testing.T) {
	h := hold()
	g := listen(t, gateway.Bounded(0, 0, 5*time.Millisecond))
	s := g.Open(gateway.SessionConfig{Ask: h.ask})
	other := g.Open(gateway.SessionConfig{Ask: says("hello")})
	results := make(chan string, 2)
	for _, body := range []string{chatBody, strings.Replace(messagesBody, `"max`, `"stream":true,"temperature":0.5,"max`, 1)} {
		go func() {
			path := messagesPath
			if body == chatBody {
				path = chatPath
			}
			resp, err := http.DefaultClient.Do(client{t, s, nil}.request(t.Context(), "POST", path, body))
			if err != nil {
				results <- err.Error()
				return
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			results <- string(text)
		}()
		<-h.begun
	}
	s.Close()
	s.Close()
	if n := h.canceled.Load(); n != 2 {
		t.Errorf("%d of 2 calls canceled when Close returned", n)
	}
	for range 2 {
		if text := <-results; !strings.Contains(text, "the session has ended") {
			t.Errorf("told %q", text)
		}
	}
	if resp, text := (client{t, s, nil}).do("POST", chatPath, chatBody); resp.StatusCode != 403 {
		t.Errorf("after Close: %d %s", resp.StatusCode, text)
	}
	if resp, text := (client{t, other, nil}).do("POST", chatPath, chatBody); resp.StatusCode != 200 {
		t.Errorf("another session: %d %s", resp.StatusCode, text)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.DefaultClient.Do(client{t, other, nil}.request(t.Context(), "POST", chatPath,
		chatBody)); err == nil {
		t.Error("a closed gateway answers")
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	g := listen(t, gateway.Config{Socket: path})
	s := g.Open(gateway.SessionConfig{Ask: says("hello")})
	dialer := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", path)
	}}}
	t.Cleanup(dialer.CloseIdleConnections)
	resp, err := dialer.Do(client{t, s, nil}.request(t.Context(), "POST", chatPath, chatBody))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(text, []byte("hello")) {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := gateway.Listen(gateway.Config{Socket: path}); err == nil {
		t.Error("listens on a socket that is taken")
	}
}

// Clients that send slowly hold up nobody.
func TestHostileConnections(t *testing.T) {
	s, _ := open(t, gateway.Bounded(0, 500*time.Millisecond, 0), says("hello"))
	address := strings.TrimPrefix(s.BaseURL(), "http://")
	dial := func(text string) net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, text)
		return conn
	}
	for reason, text := range map[string]string{
		"half a header": "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n",
		"half a body": "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + s.Token() +
			"\r\nContent-Length: 5000000000\r\n\r\n{",
		"a huge body without a token": "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000000\r\n\r\n{",
	} {
		if _, err := io.Copy(io.Discard, dial(text)); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", reason, err) // it ends, as the server closes the connection
		}
	}
	if resp, text := (client{t, s, nil}).do("POST", chatPath, chatBody); resp.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", resp.StatusCode, text)
	}
}

// events reads a stream of server-sent events, each with its kind before its data.
func events(t *testing.T, body io.Reader) (all []string) {
	t.Helper()
	kind := ""
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "event":
			kind = value + " "
		case "data":
			all = append(all, kind+value)
			kind = ""
		case "":
			if value != "" {
				all = append(all, ": "+value)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	return all
}
