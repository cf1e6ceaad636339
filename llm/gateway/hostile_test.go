package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
)

// nested returns a message whose content is so many lists of blocks in each other, each with some bytes of text.
func nested(depth, text int) string {
	open := `[{"type":"tool_result","tool_use_id":"a","text":"` + strings.Repeat("x", text) + `","content":`
	return `{"max_tokens":9,"messages":[{"role":"user","content":` +
		strings.Repeat(open, depth) + `"r"` + strings.Repeat("}]", depth) + `}]}`
}

// Bodies that would take long to decode, or much memory, are refused before they are decoded.
func TestCostlyBodies(t *testing.T) {
	s, a := open(t, gateway.Config{}, says("hello"))
	user := func(blocks string) string {
		return `{"max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}` + blocks + `]}]}`
	}
	for _, tt := range []struct {
		reason, body string
		status       int
		says         string
	}{
		{"blocks in blocks", nested(3000, 300), 400, "deeper than 64"},
		{"lists in lists", user("," + strings.Repeat("[", 100) + strings.Repeat("]", 100)), 400, "deeper than 64"},
		{"objects in a field that is not known", `{"x":` + strings.Repeat(`{"x":`, 64) + `1` + strings.Repeat("}", 64) + `}`,
			400, "deeper than 64"},
		{"empty blocks", user(strings.Repeat(",{}", 1<<20)), 400, "more than 100000"},
		{"commas", `{"x":[0` + strings.Repeat(",0", 100_000) + `]}`, 400, "more than 100000"},
		{"a program of brackets and quotes", user(`,{"type":"text","text":"` + strings.Repeat(`[{,\"`, 100_000) + `"}`), 200,
			"hello"},
		{"a backslash at the end of a text", user(`,{"type":"text","text":"\\"},{"type":"text","text":"` +
			strings.Repeat("[", 100) + `"}`), 200, "hello"},
		{"many blocks", user(strings.Repeat(`,{"type":"text","text":"hi"}`, 20_000)), 200, "hello"},
		{"more than a body has by default", user(strings.Repeat(" ", 8<<20)), 413, "longer than 8388608 bytes"},
	} {
		for _, path := range []string{chatPath, messagesPath} {
			resp, text := client{t, s, nil}.do("POST", path, tt.body)
			if resp.StatusCode != tt.status || !strings.Contains(text, tt.says) {
				t.Errorf("%s at %s: %d %.200s, want %d %s", tt.reason, path, resp.StatusCode, text, tt.status, tt.says)
			}
		}
	}
	if n := len(a.asked()); n != 6 {
		t.Errorf("%d calls", n)
	}
}

// The blocks of a tool's result have no content of their own: what is there is ignored, however odd.
func TestContentOfResults(t *testing.T) {
	for _, tt := range []struct {
		content string
		status  int
		says    string // in the message of the result, or in the refusal
	}{
		{`"r"`, 200, "r"},
		{`null`, 200, ""},
		{`[]`, 200, ""},
		{`[{"type":"text","text":"r"},{"type":"text","text":"s"}]`, 200, "r\ns"},
		{`[{"type":"text","text":"r","content":[{"type":"image","content":7}]}]`, 200, "r"},
		{`7`, 400, "messages.0: content.0: a number is of no use there"},
		{`[7]`, 400, "messages.0: content.0: a number is of no use there"},
		{`[{"type":7}]`, 400, "messages.0: content.0: type: a number is of no use there"},
	} {
		s, a := open(t, gateway.Config{}, says("hello"))
		resp, text := client{t, s, nil}.do("POST", messagesPath, `{"max_tokens":9,"messages":[{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"a","content":`+tt.content+`}]}]}`)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: %d %s", tt.content, resp.StatusCode, text)
			continue
		}
		if tt.status == 400 {
			if !strings.Contains(text, tt.says) || len(a.asked()) > 0 {
				t.Errorf("%s: %s, want %s; %d calls", tt.content, text, tt.says, len(a.asked()))
			}
			continue
		}
		if got := a.asked()[0].Messages[0]; got.Role != llm.ToolResult || got.Content != tt.says {
			t.Errorf("%s: %+v, want %q", tt.content, got, tt.says)
		}
	}
}

// While as many bodies are parsed as may be, others wait, whichever session they are for. Their clients can leave, and
// their session can end.
func TestParsingIsBounded(t *testing.T) {
	g := listen(t, gateway.Config{})
	release := g.HoldParsing()
	serving := func(s *gateway.Session, n int) {
		for s.Serving() != n {
			time.Sleep(time.Millisecond)
		}
	}
	s, ending := g.Open(gateway.SessionConfig{Ask: says("hello")}), g.Open(gateway.SessionConfig{Ask: says("hello")})
	ctx, leave := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := http.DefaultClient.Do(client{t, s, nil}.request(ctx, "POST", chatPath, chatBody)); err == nil {
			t.Error("answered before it was parsed")
		}
	})
	serving(s, 1)
	leave()
	serving(s, 0)
	wg.Wait()
	ask := func(s *gateway.Session, status int) {
		if resp, text := (client{t, s, nil}).do("POST", chatPath, chatBody); resp.StatusCode != status {
			t.Errorf("%d %s, want %d", resp.StatusCode, text, status)
		}
	}
	wg.Go(func() { ask(ending, 403) })
	serving(ending, 1)
	ending.Close()
	wg.Wait()
	wg.Go(func() { ask(s, 200) })
	serving(s, 1)
	release()
	wg.Wait()
}

// Clients that leave at once have no more calls under way than Requests, and no more waiting than is stated.
func TestClientsThatLeave(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, 0
	h := hold()
	a := &asker{do: func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		return h.ask(ctx, req)
	}}
	s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: a.ask, Requests: 2})
	c := client{t, s, nil}
	body := func(i int) string { return fmt.Sprintf(`{"messages":[{"role":"user","content":"%d"}]}`, i) }
	for i := range 8 {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			if _, err := http.DefaultClient.Do(c.request(ctx, "POST", chatPath, body(i))); err == nil {
				t.Error("answered a client that left")
			}
		}()
		await(s, 1, i)
		leave()
		<-left
		await(s, 0, i+1)
	}
	for _, path := range []string{chatPath, messagesPath} {
		resp, text := c.do("POST", path, body(8))
		if resp.StatusCode != 429 || resp.Header.Get("X-Should-Retry") != "true" || resp.Header.Get("Retry-After") == "" {
			t.Errorf("one more at %s: %d %s, headers %v", path, resp.StatusCode, text, resp.Header)
		}
	}
	close(h.release)
	for i := range 8 { // each answer is there for who asks again
		if resp, text := c.do("POST", chatPath, body(i)); resp.StatusCode != 200 {
			t.Errorf("request %d again: %d %s", i, resp.StatusCode, text)
		}
	}
	if n := len(a.asked()); n != 8 || most != 2 {
		t.Errorf("%d calls, %d at once", n, most)
	}
	if resp, text := c.do("POST", chatPath, body(8)); resp.StatusCode != 200 {
		t.Errorf("when there is room again: %d %s", resp.StatusCode, text)
	}
}

// However many calls are under way, an answer whose client left is there for who asks again, and is paid for once.
func TestManyCallsCostNoAnswer(t *testing.T) {
	first, rest := make(chan struct{}), make(chan struct{})
	a := &asker{do: func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		wait := rest
		if req.Messages[0].Content == "0" {
			wait = first
		}
		select {
		case <-wait:
			return says("hello")(ctx, req)
		case <-ctx.Done():
			return llm.Reply{}, ctx.Err()
		}
	}}
	s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: a.ask})
	c := client{t, s, nil}
	body := func(i int) string { return fmt.Sprintf(`{"messages":[{"role":"user","content":"%d"}]}`, i) }
	askAndLeave := func(i int) {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			if _, err := http.DefaultClient.Do(c.request(ctx, "POST", chatPath, body(i))); err == nil {
				t.Error("answered a client that left")
			}
		}()
		await(s, 1, i)
		leave()
		<-left
		await(s, 0, i+1)
	}
	askAndLeave(0)
	close(first)
	const open = 100 // of at most 128
	for i := range open {
		askAndLeave(i + 1)
	}
	if resp, text := c.do("POST", chatPath, body(0)); resp.StatusCode != 200 || !strings.Contains(text, "hello") {
		t.Errorf("asked again: %d %s", resp.StatusCode, text)
	}
	for _, req := range a.asked()[1:] {
		if req.Messages[0].Content == "0" {
			t.Error("the answer was paid for twice")
		}
	}
	close(rest)
}

// Calls that wait for others when their session is closed are never begun.
func TestCloseWithCallsThatWait(t *testing.T) {
	h := hold()
	a := &asker{do: h.ask}
	s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: a.ask, Requests: 1})
	for i := range 4 {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			body := fmt.Sprintf(`{"messages":[{"role":"user","content":"%d"}]}`, i)
			http.DefaultClient.Do(client{t, s, nil}.request(ctx, "POST", chatPath, body))
		}()
		await(s, 1, i)
		leave()
		<-left
		await(s, 0, i+1)
	}
	<-h.begun
	s.Close()
	if n := len(a.asked()); n != 1 || h.canceled.Load() != 1 {
		t.Errorf("%d calls, %d canceled", n, h.canceled.Load())
	}
}

// A client that is refused before its body is read does not keep its connection by sending none.
func TestRefusedWithoutBody(t *testing.T) {
	g := listen(t, gateway.Bounded(0, 3*time.Second, 0))
	s := g.Open(gateway.SessionConfig{Ask: says("hello")})
	ended := g.Open(gateway.SessionConfig{Ask: says("hello")})
	ended.Close()
	var all sync.WaitGroup
	defer all.Wait()
	for reason, tt := range map[string]struct{ head, status string }{
		"no token":             {"POST /v1/messages HTTP/1.1\r\nHost: localhost", "401"},
		"a session that ended": {"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + ended.Token(), "403"},
		"a path":               {"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + s.Token(), "404"},
		"an encoding": {"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nX-Api-Key: " +
			s.Token(), "400"},
		"a list, with a body":    {"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + s.Token(), "200"},
		"a body that comes late": {"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + s.Token(), "400"},
	} {
		for _, length := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
			conn := dial(t, s)
			all.Go(func() { // at once, as they mostly wait
				io.WriteString(conn, tt.head+"\r\n"+length+"\r\n\r\n")
				got, err := io.ReadAll(conn) // until the server closes the connection
				if err != nil {
					t.Errorf("%s, %s: %v", reason, length, err)
				}
				head, _, _ := strings.Cut(string(got), "\r\n\r\n")
				if !strings.HasPrefix(head, "HTTP/1.1 "+tt.status) || !strings.Contains(head, "Connection: close") {
					t.Errorf("%s, %s: %s", reason, length, got)
				}
			})
		}
	}
}

func dial(t *testing.T, s *gateway.Session) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.BaseURL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// A client that reads no answer is given up, whatever it asks for.
func TestClientsThatDoNotRead(t *testing.T) {
	s, _ := open(t, gateway.Bounded(0, 500*time.Millisecond, 0), says("hello"))
	count := fmt.Sprintf("POST /v1/messages/count_tokens HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		s.Token(), len(messagesBody), messagesBody)
	var all sync.WaitGroup
	defer all.Wait()
	for _, request := range notrun.FewOf(map[string]string{
		"a list":     "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + s.Token() + "\r\n\r\n",
		"a count":    count,
		"an error":   strings.Replace(count, messagesBody, strings.Repeat("{", len(messagesBody)), 1),
		"an absence": "GET /v1/files HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + s.Token() + "\r\n\r\n",
	}, "a list", "an error") {
		conn, many := dial(t, s), strings.Repeat(request, 100)
		all.Go(func() {
			for {
				if _, err := io.WriteString(conn, many); err != nil {
					return // the server has closed the connection
				}
			}
		})
	}
}

// Equal requests have other seeds, and one that failed is asked again with its own.
func TestSeedsOfEqualRequests(t *testing.T) {
	outcomes := []error{nil, errors.New("x"), nil, nil}
	a := &asker{}
	a.do = func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if err := outcomes[len(a.asked())-1]; err != nil {
			return llm.Reply{}, err
		}
		return says("hello")(ctx, req)
	}
	s := listen(t, gateway.Config{}).Open(gateway.SessionConfig{Ask: a.ask})
	var ids []string
	for range outcomes {
		_, text := client{t, s, nil}.do("POST", messagesPath, messagesBody)
		ids = append(ids, between(text, `"id":"`, `"`))
	}
	reqs := a.asked()
	seeds := map[uint32]bool{reqs[0].Seed: true, reqs[1].Seed: true, reqs[3].Seed: true}
	if reqs[1].Seed != reqs[2].Seed || len(seeds) != 3 || ids[0] == ids[2] || ids[2] == ids[3] {
		t.Errorf("seeds %d, %d, %d, %d, IDs %q", reqs[0].Seed, reqs[1].Seed, reqs[2].Seed, reqs[3].Seed, ids)
	}
}
