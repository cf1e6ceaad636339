package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

var (
	streamed = strings.NewReplacer(`{"model"`, `{"stream":true,"model"`)
	readCall = llm.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a"}`}
	listCall = llm.ToolCall{ID: "c2", Name: "list"}
)

// stream sends body, calls begun when the answer has begun, and returns its events.
func stream(t *testing.T, s *gateway.Session, path, body string, begun func()) []string {
	t.Helper()
	resp, err := http.DefaultClient.Do(client{t, s, nil}.request(t.Context(), "POST", path, streamed.Replace(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begun()
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, got)
	}
	return events(t, resp.Body)
}

// The streams of Anthropic's dialect, event by event as its documentation has them.
func TestMessagesStream(t *testing.T) {
	const begin = `message_start {"message":{"content":[],"id":"ID","model":"small","role":"assistant","stop_reason":null,` +
		`"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":READ,"input_tokens":IN,"output_tokens":0}},"type":"message_start"}`
	const use = `"usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"input_tokens":6,"output_tokens":3}}`
	known := strings.NewReplacer("IN", "6", "READ", "4").Replace(begin)
	unknown := strings.NewReplacer("IN", "0", "READ", "0").Replace(begin)
	text := []string{
		`content_block_start {"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}`,
		`content_block_delta {"delta":{"text":"hello","type":"text_delta"},"index":0,"type":"content_block_delta"}`,
		`content_block_stop {"index":0,"type":"content_block_stop"}`,
	}
	end := func(reason string) []string {
		return []string{`message_delta {"delta":{"stop_reason":"` + reason +
			`","stop_sequence":null},"type":"message_delta",` + use, `message_stop {"type":"message_stop"}`}
	}
	calls := []string{
		`content_block_start {"content_block":{"id":"c1","input":{},"name":"read","type":"tool_use"},"index":1,"type":"content_block_start"}`,
		`content_block_delta {"delta":{"partial_json":"{\"path\":\"a\"}","type":"input_json_delta"},"index":1,"type":"content_block_delta"}`,
		`content_block_stop {"index":1,"type":"content_block_stop"}`,
		`content_block_start {"content_block":{"id":"c2","input":{},"name":"list","type":"tool_use"},"index":2,"type":"content_block_start"}`,
		`content_block_delta {"delta":{"partial_json":"{}","type":"input_json_delta"},"index":2,"type":"content_block_delta"}`,
		`content_block_stop {"index":2,"type":"content_block_stop"}`,
	}
	for _, tt := range []struct {
		reason string
		do     func(context.Context, llm.Request) (llm.Reply, error)
		late   bool // whether the model answers after the first ping
		want   [][]string
	}{
		{"text", says("hello"), false, [][]string{{known}, text, end("end_turn")}},
		{"text and calls", says("hello", readCall, listCall), false, [][]string{{known}, text, calls, end("tool_use")}},
		{"pings", says("hello"), true, [][]string{{unknown, `ping {"type":"ping"}`}, text, end("end_turn")}},
		{"an error after pings", fails(&llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New(secret)}), true,
			[][]string{{unknown, `ping {"type":"ping"}`,
				`error {"error":{"code":"overloaded","message":"the model gave no usable answer","param":null,"type":"overloaded_error"},"type":"error"}`}}},
	} {
		got := streamAround(t, tt.late, tt.do)
		if id := between(got[0], `"id":"`, `"`); !strings.HasPrefix(id, "msg_") {
			t.Errorf("%s: ID %q", tt.reason, id)
		} else {
			got[0] = strings.Replace(got[0], id, "ID", 1)
		}
		var want []string
		for _, part := range tt.want {
			want = append(want, part...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// streamAround returns the events of a stream, whose model answers after the first ping if late. Of pings there is one.
func streamAround(t *testing.T, late bool, do func(context.Context, llm.Request) (llm.Reply, error)) []string {
	t.Helper()
	cfg, pinged := gateway.Bounded(0, 0, time.Hour), make(chan struct{})
	if late {
		cfg = gateway.Bounded(0, 0, time.Millisecond)
	} else {
		close(pinged)
	}
	s, _ := open(t, cfg, func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		<-pinged
		return do(ctx, req)
	})
	return onePing(stream(t, s, messagesPath, messagesBody, func() {
		if late {
			close(pinged)
		}
	}))
}

// later answers as do after a while, in which there are pings unless the machine is busy.
func later(do func(context.Context, llm.Request) (llm.Reply, error)) func(context.Context, llm.Request) (llm.Reply, error) {
	return func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(50 * time.Millisecond)
		return do(ctx, req)
	}
}

// onePing drops all pings but the first.
func onePing(events []string) (kept []string) {
	pinged := false
	for _, e := range events {
		ping := strings.Contains(e, "ping")
		if !ping || !pinged {
			kept = append(kept, e)
		}
		pinged = pinged || ping
	}
	return kept
}

func between(s, begin, end string) string {
	_, s, _ = strings.Cut(s, begin)
	s, _, _ = strings.Cut(s, end)
	return s
}

// generated is the ID of a call to which the model gave none.
var generated = regexp.MustCompile(`call_[0-9a-f]{8}_0_0`)

// Answers of Anthropic's dialect in one piece.
func TestMessagesWhole(t *testing.T) {
	finish := func(reason, text string, calls ...llm.ToolCall) func(context.Context, llm.Request) (llm.Reply, error) {
		return func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Text: text, Calls: calls, Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: reason}}}, nil
		}
	}
	for _, tt := range []struct {
		reason, fields string
		do             func(context.Context, llm.Request) (llm.Reply, error)
		content, stop  string
	}{
		{"text", "", says("hello"), `[{"text":"hello","type":"text"}]`, `"end_turn","stop_sequence":null`},
		{"cut", "", finish("length", "hel"), `[{"text":"hel","type":"text"}]`, `"max_tokens","stop_sequence":null`},
		{"withheld", "", finish("content_filter", "hel"), `[{"text":"hel","type":"text"}]`, `"refusal","stop_sequence":null`},
		{"nothing", "", finish("stop", ""), `[{"text":"","type":"text"}]`, `"end_turn","stop_sequence":null`},
		{"a call", "", finish("tool_calls", "", readCall),
			`[{"id":"c1","input":{"path":"a"},"name":"read","type":"tool_use"}]`, `"tool_use","stop_sequence":null`},
		{"arguments that are no object, and no ID", "", finish("stop", "", llm.ToolCall{Name: "f", Arguments: `{"a":`}),
			`[{"id":"CALL","input":{"arguments":"{\"a\":"},"name":"f","type":"tool_use"}]`, `"tool_use","stop_sequence":null`},
		{"one call where one is allowed", `"tool_choice":{"type":"auto","disable_parallel_tool_use":true},`,
			finish("stop", "", readCall, listCall),
			`[{"id":"c1","input":{"path":"a"},"name":"read","type":"tool_use"}]`, `"tool_use","stop_sequence":null`},
	} {
		s, _ := open(t, gateway.Config{}, tt.do)
		_, text := client{t, s, nil}.do("POST", messagesPath, "{"+tt.fields+messagesBody[1:])
		text = generated.ReplaceAllString(text, "CALL")
		want := `"stop_reason":` + tt.stop + `,"type":"message","usage":`
		if !strings.Contains(text, `{"content":`+tt.content+`,`) || !strings.Contains(text, want) {
			t.Errorf("%s: %s\nwant %s and %s", tt.reason, text, tt.content, want)
		}
	}
}

// The client of package openai understands answers in OpenAI's dialect, streamed and whole, and what their ends mean.
// Tests of full length have OpenAI's own client.
func TestChatClient(t *testing.T) {
	long := strings.Repeat("häh? ", 300)
	args := `{"text":"` + long + `"}`
	s, a := open(t, gateway.Bounded(0, 0, time.Millisecond),
		later(says(long, llm.ToolCall{ID: "c1", Name: "read", Arguments: args}, listCall)))
	failing, _ := open(t, gateway.Bounded(0, 0, time.Millisecond), later(fails(errors.New("x"))))
	for _, whole := range []bool{true, false} {
		ask := func(s *gateway.Session) (llm.Reply, error) {
			c, err := openai.New(openai.Config{Seed: true, BaseURL: s.BaseURL() + "/v1", APIKey: s.Token(), Model: llm.Model{Key: "gpt"},
				Whole: whole})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			return c.Generate(t.Context(), llm.Request{
				Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "hi"}},
				Tools:    []llm.Tool{{Name: "read"}, {Name: "list"}},
			})
		}
		reply, err := ask(s)
		if err != nil || len(reply.Attempts) != 1 || len(reply.Calls) != 2 {
			t.Fatalf("whole %v: %+v, %v", whole, reply, err)
		}
		at := reply.Attempts[0]
		if reply.Text != long || reply.Calls[0].Arguments != args || reply.Calls[1].Name != "list" ||
			reply.Calls[1].ID != "c2" ||
			at.FinishReason != "tool_calls" || at.Usage == nil || at.Usage.PromptTokens != 10 || at.Usage.CompletionTokens != 3 {
			t.Errorf("whole %v: %+v", whole, reply)
		}
		if _, err := ask(failing); err == nil || !strings.Contains(err.Error(), "takes no further calls") {
			t.Errorf("whole %v: an error: %v", whole, err)
		}
	}
	if reqs := a.asked(); len(reqs) != 2 || len(reqs[0].Tools) != 2 || reqs[0].Messages[0].Content != "Be brief." {
		t.Errorf("asked %+v", reqs)
	}
}

// A conversation with tools, through the gateway to a server that checks it and counts tokens: the client is told the
// server's own count.
func TestThroughToAServer(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(r llmtest.Request) string { return map[bool]string{true: "done", false: ""}[len(r.Messages) > 1] },
		Calls: func(r llmtest.Request) []llm.ToolCall {
			if len(r.Messages) > 1 {
				return nil
			}
			return []llm.ToolCall{{Name: "read", Arguments: `{"path":"a"}`}, {Name: "read", Arguments: `{"path":"b"}`}}
		},
	})
	t.Cleanup(srv.Close)
	model, err := openai.New(openai.Config{Seed: true, BaseURL: srv.URL, APIKey: secret,
		Model: llm.Model{Name: "m", Timeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	s, _ := open(t, gateway.Config{}, model.Generate)
	const tools = `"tools":[{"name":"read","input_schema":{"type":"object"}}],"max_tokens":100,`
	var m struct {
		Content []json.RawMessage
		Usage   struct {
			Input  int `json:"input_tokens"`
			Read   int `json:"cache_read_input_tokens"`
			Output int `json:"output_tokens"`
		}
	}
	total := llm.Usage{}
	send := func(messages string) string {
		t.Helper()
		resp, text := client{t, s, nil}.do("POST", messagesPath, "{"+tools+`"messages":`+messages+"}")
		if err := json.Unmarshal([]byte(text), &m); err != nil || resp.StatusCode != 200 {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
		total.PromptTokens += m.Usage.Input + m.Usage.Read
		total.CachedTokens += m.Usage.Read
		total.CompletionTokens += m.Usage.Output
		return text
	}
	send(`[{"role":"user","content":"read both"}]`)
	var ids [2]struct{ ID string }
	for i := range ids {
		if err := json.Unmarshal(m.Content[i], &ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	content, err := json.Marshal(m.Content)
	if err != nil {
		t.Fatal(err)
	}
	text := send(`[{"role":"user","content":"read both"},{"role":"assistant","content":` + string(content) +
		`},{"role":"user","content":[` +
		`{"type":"tool_result","tool_use_id":"` + ids[1].ID + `","content":"B"},{"type":"tool_result","tool_use_id":"` +
		ids[0].ID + `","content":"A"}]}]`)
	if !strings.Contains(text, `"text":"done"`) {
		t.Errorf("answered %s", text)
	}
	if stats := srv.Stats(); stats.Tokens != total || stats.Calls != 2 {
		t.Errorf("the client was told %+v, the server counted %+v in %d calls", total, stats.Tokens, stats.Calls)
	}
}
