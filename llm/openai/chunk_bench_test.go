//go:build soak

package openai

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// BenchmarkChunk reads a stream of 1,000 tokens with usage in every chunk, as vLLM sends it, and the
// same through the SDK's reader. Times are for one chunk.
//
//	go test -tags soak -run '^$' -bench Chunk -benchmem ./llm/openai
func BenchmarkChunk(b *testing.B) {
	const tokens = 1000
	body := vllmStream(tokens)
	for _, bb := range []struct {
		name string
		read func() (text int, err error)
	}{
		{"own", func() (int, error) {
			t := transcript{max: defaultMaxBody}
			w := newWatch(Stream{}.withDefaults(), func(error) {})
			defer w.stop()
			err := t.read(newEventReader(bytes.NewReader(body)), w)
			return len(t.text), err
		}},
		{"sdk", func() (int, error) {
			resp := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}},
				Body: io.NopCloser(bytes.NewReader(body))}
			s := ssestream.NewStream[sdk.ChatCompletionChunk](ssestream.NewDecoder(resp), nil)
			n := 0
			for s.Next() {
				if c := s.Current(); len(c.Choices) > 0 {
					n += len(c.Choices[0].Delta.Content)
				}
			}
			return n, s.Err()
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; n < b.N; n += tokens {
				if text, err := bb.read(); err != nil || text != 4*tokens {
					b.Fatalf("%d bytes, %v", text, err)
				}
			}
		})
	}
}

// vllmStream is a stream of n tokens of four bytes.
func vllmStream(n int) []byte {
	var b strings.Builder
	event := func(choices string, completion int) {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-4f0e1c2d3b5a69788796a5b4c3d2e1f0","object":"chat.completion.chunk","created":1700000000,`+
			`"model":"Qwen/Qwen3-8B","choices":[%s],"usage":{"prompt_tokens":1234,"total_tokens":%d,"completion_tokens":%d}}`+
			"\n\n",
			choices, 1234+completion, completion)
	}
	event(`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`, 0)
	for i := range n {
		event(fmt.Sprintf(`{"index":0,"delta":{"content":"%03d\n"},"logprobs":null,"finish_reason":null,"token_ids":null}`,
			i%1000), i+1)
	}
	event(`{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}`, n)
	event("", n)
	b.WriteString("data: [DONE]\n\n")
	return []byte(b.String())
}
