package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// BenchmarkCall compares one call through this package, alone and under the usual stack, with the
// least that net/http and encoding/json can do, against the same server in the same process, whose
// work is in all three figures. The program in the prompt is 4 kB long, as is the reply.
//
//	go test -run '^$' -bench Call -benchmem ./llm/openai
func BenchmarkCall(b *testing.B) {
	srv := llmtest.NewServer(llmtest.Config{})
	b.Cleanup(srv.Close)
	req := request
	req.Messages = append([]llm.Message{req.Messages[0]}, llm.Message{
		Role: llm.User, Content: "```js\n" + strings.Repeat("circles.push([0.5, 0.5, 0.1]);\n", 128) + "```\n",
	})
	client := newClient(b, srv.URL, model)
	for _, bb := range []struct {
		name string
		l    llm.LLM
	}{
		{"net-http", plain(b, srv.URL)},
		{"openai", client},
		{"stack", llm.Retry(llm.Limit(client, 16), llm.RetryConfig{})},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if reply, err := bb.l.Generate(b.Context(), req); err != nil || len(reply.Text) < 1000 {
					b.Fatalf("%q, %v", reply.Text, err)
				}
			}
		})
	}
}

// plain is the least code that makes a call: no limits, no checks, no accounting.
func plain(tb testing.TB, url string) llm.LLM {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1 << 10}}
	tb.Cleanup(client.CloseIdleConnections)
	return llm.Func(func(ctx context.Context, r llm.Request) (llm.Reply, error) {
		body, err := json.Marshal(map[string]any{
			"model": model.Name, "messages": r.Messages, "seed": r.Seed,
			"temperature": 0.4, "top_p": 0.95, "max_tokens": 16000,
		})
		if err != nil {
			return llm.Reply{}, err
		}
		req, err := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", bytes.NewReader(body))
		if err != nil {
			return llm.Reply{}, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return llm.Reply{}, err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			return llm.Reply{}, err
		}
		var c struct {
			Choices []struct{ Message struct{ Content string } }
			Usage   llm.Usage
		}
		if err := json.Unmarshal(data, &c); err != nil {
			return llm.Reply{}, err
		}
		return llm.Reply{Text: c.Choices[0].Message.Content}, nil
	})
}
