//go:build unix

package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// BenchmarkStream20 reports the processor time of a call whose answer comes in 20 chunks, a millisecond apart, and of one
// whose answer comes in one piece. The server is in the same process and renders nothing, and its time is in all figures.
// "read" is the least that a client of such a stream can do: it reads the bytes and looks at none.
//
//	go test -run '^$' -bench Stream20 -benchtime 2000x ./llm/openai
func BenchmarkStream20(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(twenty))
	b.Cleanup(srv.Close)
	for _, bb := range []struct {
		name string
		l    llm.LLM
	}{
		{"whole", newClient(b, srv.URL, model)},
		{"streamed", newStreamer(b, srv.URL, model, openai.Stream{})},
		{"read", reader(srv.URL)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			cpu := cpuTime()
			var g errgroup.Group
			g.SetLimit(32)
			for range b.N {
				g.Go(func() error {
					reply, err := bb.l.Generate(b.Context(), request)
					if err == nil && len(reply.Text) < 20*40 {
						err = fmt.Errorf("%q", reply.Text)
					}
					return err
				})
			}
			if err := g.Wait(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// twenty answers with 20 lines, in a chunk each if the request asks for a stream.
func twenty(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	line := strings.Repeat("x", 38) + `;\n`
	if !strings.Contains(string(body), `"stream":true`) {
		time.Sleep(20 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1234,"total_tokens":1254,"completion_tokens":20}}`, strings.Repeat(line, 20))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	for i := range 20 {
		finish := "null"
		if i == 19 {
			finish = `"stop"`
		}
		fmt.Fprintf(w, `data: {"id":"chatcmpl-4f0e1c2d3b5a69788796a5b4c3d2e1f0","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[`+
			`{"index":0,"delta":{"content":"%s"},"logprobs":null,"finish_reason":%s}],"usage":{"prompt_tokens":1234,"total_tokens":%d,"completion_tokens":%d}}`+
			"\n\n", line, finish, 1235+i, 1+i)
		flush()
		time.Sleep(time.Millisecond)
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

// reader reads streams and looks at nothing.
func reader(url string) llm.LLM {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	return llm.Func(func(ctx context.Context, r llm.Request) (llm.Reply, error) {
		req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(`{"stream":true}`))
		if err != nil {
			return llm.Reply{}, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return llm.Reply{}, err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		return llm.Reply{Text: string(data)}, err
	})
}
