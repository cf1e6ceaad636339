package openai_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/option"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// A server may repeat the key, with what is not seen when it is printed.
func TestKeyThatIsRepeated(t *testing.T) {
	half := len(secret) / 2
	in := func(s string) string { return secret[:half] + s + secret[half:] }
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, tt := range []struct{ reason, body string }{
		{"as it is", secret},
		{"a space without width", in("\u200b")},
		{"colours", in("\x1b[31m\x1b[0m")},
		{"a byte that is not UTF-8", in("\xff")},
		{"in a message of JSON", `{"error":{"message":` + quoted(in("\u200b")) + `}}`},
		{"where it is cut", strings.Repeat("x", 470) + secret},
		{"in a page", "<html><p>" + in("\u200b") + "</p>"},
		{"under a success", `{"choices":[{"message":{"content":null},"finish_reason":` + quoted(in("\u200b")) + `}]}`},
	} {
		for _, status := range []int{http.StatusOK, http.StatusUnauthorized} {
			w := newWire(t, status, nil, tt.body)
			reply, err := newClient(t, w.URL, model).Generate(t.Context(), request)
			if err == nil || len(reply.Attempts) != 1 {
				t.Fatalf("%s, %d: error %v, attempts %v", tt.reason, status, err, reply.Attempts)
			}
			a := reply.Attempts[0]
			for _, s := range []string{err.Error(), a.Err, a.FinishReason} {
				if strings.Contains(s, secret[:half]) {
					t.Errorf("%s, %d: %q holds the key or half of it", tt.reason, status, s)
				}
			}
		}
	}
}

// What the transport says of a reply that is not HTTP quotes it.
func TestKeyInABrokenReply(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			fmt.Fprintf(conn, "%s\u200b%s\x1b]0;x\x07\r\n\r\n", secret[:9], secret[9:])
			conn.Close()
		}
	}))
	defer srv.Close()
	_, err := newClient(t, srv.URL, model).Generate(t.Context(), request)
	checkMessage(t, err, srv.URL, "malformed HTTP")
}

// Bodies without an end, small on the wire, long in a line, deep or many-fold, cost what an answer may, and end as an
// error.
func TestBodiesAreBounded(t *testing.T) {
	const most = 64 << 20 // far more than is read
	for _, tt := range []struct {
		reason        string
		status        int
		whole         bool
		head, piece   string
		says, settled string // settled is the end of a body that has one
	}{
		{"a text", 200, true, `{"choices": [{"message": {"content": "`, "a", "longer than 16777216 bytes", ""},
		{"an error", 500, true, "the disk is full. ", "x", "500 Internal Server Error: the disk is full. xxx", ""},
		{"a redirect", 302, false, "the disk is full. ", "x", "302 Found: the disk is full. xxx", ""},
		{"a line of a stream", 200, false, "data: ", "x", "longer than 16777216 bytes", ""},
		{"an event of many lines", 200, false, "", "data: x\n", "longer than 16777216 bytes", ""},
		{"comments", 200, false, "", ": x\n", "longer than 16777216 bytes", ""},
		{"chunks", 200, false, "", `data: {"choices":[{"delta":{"content":"` + strings.Repeat("a", 1<<10) + `"}}]}` + "\n\n",
			"the text is longer than 16777216 bytes", ""},
		{"nesting", 200, true, "", "[", "no JSON: [[[", "]"},
		{"nesting in a refusal", 400, true, "", `{"error":`, `400 Bad Request: {"error":{"error":`, "}"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(tt.status)
				z := gzip.NewWriter(w)
				n, err := io.WriteString(z, tt.head)
				for piece := strings.Repeat(tt.piece, 1<<16/len(tt.piece)); n < most && err == nil; {
					if tt.settled != "" && n >= 8<<20 {
						io.WriteString(z, tt.settled)
						z.Close()
						break
					}
					var k int
					k, err = io.WriteString(z, piece)
					n += k
				}
			}))
			t.Cleanup(srv.Close)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := open(t, srv.URL, openai.Config{Whole: tt.whole}).Generate(ctx, request)
			checkMessage(t, err, srv.URL, tt.says)
		})
	}
}

// The prompt goes to no other server than the one that was named.
func TestRedirectsToOthersAreNotFollowed(t *testing.T) {
	other := serve(t, llmtest.Config{})
	for _, opts := range [][]option.RequestOption{nil, {option.WithHTTPClient(&http.Client{})}} {
		w := newWire(t, 307, http.Header{"Location": {other.URL + "/chat/completions"}})
		reply, err := open(t, w.URL, openai.Config{Options: opts}).Generate(t.Context(), request)
		if err == nil || len(reply.Attempts) != 1 || other.Stats().Calls != 0 {
			t.Errorf("error %v, attempts %+v, %d calls at the other", err, reply.Attempts, other.Stats().Calls)
		}
	}
}

func TestNothingThere(t *testing.T) {
	refused := refusedURL(t)
	tlsURL := strings.Replace(serve(t, llmtest.Config{}).URL, "http:", "https:", 1)
	unknown := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn,
		error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "typo.example", IsNotFound: true}}
	}}}
	for _, tt := range []struct {
		reason, url string
		opts        []option.RequestOption
		says        string
	}{
		{"refused", refused, nil, "nothing answers: dial tcp"},
		{"HTTPS asked of an HTTP server", tlsURL, nil, "no secure connection"},
		{"no such host", "http://typo.example/v1", []option.RequestOption{option.WithHTTPClient(unknown)}, "no such host"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			noLeak(t)
			reply, err := open(t, tt.url, openai.Config{Whole: true, Options: tt.opts}).Generate(t.Context(), request)
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

// Whatever a server sends, there is one attempt, words fit for a terminal and counts that can be.
func FuzzReplies(f *testing.F) {
	for _, tt := range streamCases {
		f.Add(strings.Join(tt.parts, ""), false)
	}
	f.Add(wholeAnswer, true)
	f.Add(`{"choices":[null,{"delta":null}],"usage":{"completion_tokens":1e300}}`, false)
	f.Add("data: "+`{"error":{"error":{"error":[[{"loc":[[]],"msg":"\u0000"}]]}}}`+"\n\n", false)
	f.Fuzz(func(t *testing.T, body string, whole bool) {
		body = strings.ReplaceAll(body, "hang", "h")
		reply, err := open(t, newWire(t, 200, nil, body).URL, openai.Config{Whole: whole}).Generate(t.Context(), asking)
		if len(reply.Attempts) != 1 || (err == nil) != (reply.Attempts[0].Status == llm.OK) {
			t.Fatalf("error %v, attempts %+v", err, reply.Attempts)
		}
		a := reply.Attempts[0]
		if strings.ContainsAny(a.Err+a.FinishReason, "\n\r\x1b\x00") || a.Streamed < 0 || a.Streamed > 16000+len(body) {
			t.Errorf("attempt %+v", a)
		}
		if u := a.Usage; u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens > u.PromptTokens) {
			t.Errorf("usage %+v", *u)
		}
		for _, c := range reply.Calls {
			if c.ID == "" || c.Name == "" || strings.ContainsAny(c.ID+c.Name, "\n\x1b") {
				t.Errorf("call %+v", c)
			}
		}
	})
}
