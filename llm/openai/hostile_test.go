package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// readable is what of s a reader sees: without what has no width, and without blanks.
func readable(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

// A key can be repeated with something in it that is not seen when it is printed.
func TestKeyWithSomethingInside(t *testing.T) {
	half := len(secret) / 2
	in := func(s string) string { return secret[:half] + s + secret[half:] }
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, tt := range []struct{ reason, body string }{
		{"as it is", secret},
		{"a space without width", in("\u200b")},
		{"several, and a mark of direction", in("\u200b\u2060\ufeff\u202e")},
		{"more of them than are shown", in(strings.Repeat("\u200b", 1000))},
		{"colours", in("\x1b[31m\x1b[0m")},
		{"a title", in("\x1b]0;x\x07")},
		{"a selector of variants", in("\ufe0f")},
		{"an accent, which is drawn over the letter", in("\u0301")},
		{"a line end", in("\r\n ")},
		{"a byte that is not UTF-8", in("\xff")},
		{"in a message of JSON", `{"error":{"message":` + quoted(in("\u200b")) + `}}`},
		{"in JSON of an unknown form, escaped", `{"status":"` + in(`\u200b`) + `"}`},
		{"where it is cut", strings.Repeat("x", 110) + in("\u200b")},
		{"in a page", "<html><p>" + in("\u200b") + "</p>"},
		{"under a success", `{"choices":[{"message":{"content":null},"finish_reason":` + quoted(in("\u200b")) + `}]}`},
	} {
		for _, status := range []int{http.StatusOK, http.StatusUnauthorized} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(status)
				io.WriteString(w, tt.body)
			}))
			reply, err := newClient(t, srv.URL, model).Generate(t.Context(), request)
			srv.Close()
			if err == nil || len(reply.Attempts) != 1 {
				t.Fatalf("%s, %d: error %v, attempts %v", tt.reason, status, err, reply.Attempts)
			}
			a := reply.Attempts[0]
			for _, s := range []string{err.Error(), a.Err, a.FinishReason} {
				if strings.Contains(readable(s), secret[:half]) {
					t.Errorf("%s, %d: %q holds the key or half of it", tt.reason, status, s)
				}
			}
		}
	}
}

// What the transport says of a reply that is not HTTP quotes it.
func TestKeyInABrokenReply(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 1<<12))
			fmt.Fprintf(conn, "%s\u200b%s\x1b]0;x\x07\r\n\r\n", secret[:9], secret[9:])
			conn.Close()
		}
	}()
	reply, err := newClient(t, "http://"+l.Addr().String(), model).Generate(t.Context(), request)
	if err == nil || len(reply.Attempts) != 1 || !strings.Contains(err.Error(), "malformed HTTP") {
		t.Fatalf("error %v, %d attempts", err, len(reply.Attempts))
	}
	for _, s := range []string{err.Error(), reply.Attempts[0].Err} {
		if strings.Contains(readable(s), secret[:9]) {
			t.Errorf("%q holds the key or half of it", s)
		}
	}
}

// answered asks a server whose answer has the finish reason and the usage, in one piece or streamed, for at
// most 100 new tokens.
func answered(t *testing.T, finish, usage string, streamed bool, extra map[string]any) llm.Attempt {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if streamed {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":%q}],"usage":%s}`+"\n\ndata: [DONE]\n\n",
				finish, usage)
			return
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"hi"},"finish_reason":%q}],"usage":%s}`, finish, usage)
	}))
	defer srv.Close()
	cfg := openai.Config{BaseURL: srv.URL, Model: model, Extra: extra, Whole: !streamed}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	req := request
	req.MaxTokens = new(100)
	reply, err := c.Generate(t.Context(), req)
	if err != nil || len(reply.Attempts) != 1 {
		t.Fatalf("error %v, attempts %v", err, reply.Attempts)
	}
	return reply.Attempts[0]
}

func TestUsageIsNoMoreThanCanBe(t *testing.T) {
	const most = 34 + 3*32 // bytes of the two messages, and what is around them
	for _, tt := range []struct {
		reason string
		usage  string
		extra  map[string]any
		want   llm.Usage
		capped bool
	}{
		{"what can be", `{"prompt_tokens":9,"completion_tokens":100}`, nil, llm.Usage{PromptTokens: 9, CompletionTokens: 100},
			false},
		{"the most that can be", fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":100}`, most), nil,
			llm.Usage{PromptTokens: most, CompletionTokens: 100}, false},
		{"a billion each", `{"prompt_tokens":1000000000,"completion_tokens":1000000000,"prompt_tokens_details":{"cached_tokens":1000000000}}`, nil,
			llm.Usage{PromptTokens: most, CachedTokens: most, CompletionTokens: 100}, true},
		{"one token too many in the prompt", fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":1}`, most+1), nil,
			llm.Usage{PromptTokens: most, CompletionTokens: 1}, true},
		{"one new token too many", `{"prompt_tokens":9,"completion_tokens":101}`, nil,
			llm.Usage{PromptTokens: 9, CompletionTokens: 100}, true},
		{"another cap in Extra", `{"prompt_tokens":9,"completion_tokens":201}`, map[string]any{"max_tokens": 200},
			llm.Usage{PromptTokens: 9, CompletionTokens: 200}, true},
		{"no cap in Extra", `{"prompt_tokens":9,"completion_tokens":5000}`,
			map[string]any{"max_tokens": json.RawMessage("null")},
			llm.Usage{PromptTokens: 9, CompletionTokens: 5000}, false},
		{"Extra adds to the prompt", fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":1}`, most+14),
			map[string]any{"tools": "0123"},
			llm.Usage{PromptTokens: most + 14, CompletionTokens: 1}, false},
	} {
		for _, streamed := range []bool{false, true} {
			a := answered(t, "stop", tt.usage, streamed, tt.extra)
			if a.Usage == nil || *a.Usage != tt.want || a.Capped != tt.capped {
				t.Errorf("%s, streamed %v: usage %+v, capped %v; want %+v, %v", tt.reason, streamed, a.Usage, a.Capped, tt.want,
					tt.capped)
			}
			if streamed && a.Streamed > tt.want.CompletionTokens {
				t.Errorf("%s: %d tokens are said to have been streamed", tt.reason, a.Streamed)
			}
		}
	}
}

// A finish reason is one word, whatever a server makes of it.
func TestFinishReasonIsBounded(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		a := answered(t, strings.Repeat("stop ", 1<<16), `{"prompt_tokens":9,"completion_tokens":1}`, streamed, nil)
		if n := len(a.FinishReason); n == 0 || n > 80 {
			t.Errorf("streamed %v: a finish reason of %d bytes", streamed, n)
		}
	}
}

// A refusal without an end costs its beginning, whose words are shown, and not the memory that an answer may take.
func TestRefusalWithoutAnEnd(t *testing.T) {
	const most = 256 << 20 // far more than the buffers between the two have room for
	for _, whole := range []bool{true, false} {
		for _, status := range []int{http.StatusInternalServerError, http.StatusFound} {
			sent := make(chan int, 1)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				n, _ := io.WriteString(w, "the disk is full. ")
				for piece := strings.Repeat("x", 1<<16); n < most; {
					k, err := io.WriteString(w, piece)
					if n += k; err != nil {
						break
					}
				}
				sent <- n
			}))
			c, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model, Whole: whole})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Generate(t.Context(), request)
			if err == nil || !strings.Contains(err.Error(), "the disk is full.") {
				t.Errorf("whole %v, %d: error %.200v", whole, status, err)
			}
			c.Close()
			srv.CloseClientConnections()
			if n := <-sent; n >= most {
				t.Errorf("whole %v, %d: all of %d bytes were read", whole, status, n)
			}
			srv.Close()
		}
	}
}
