package openai_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

func ExampleNew() {
	_, err := openai.New(openai.Config{BaseURL: "localhost:8000/v1", Model: llm.Models()[0]})
	fmt.Println(err)
	// Output: openai: Config.BaseURL "localhost:8000/v1": need a URL such as http://127.0.0.1:8000/v1, without a user, here or in LLM_API_BASE
}

func ExampleConfig() {
	cfg := openai.Config{
		BaseURL: "http://127.0.0.1:8000/v1",
		APIKey:  "sk-secret",
		Model:   llm.Models()[0],
		// vLLM: answer without thinking first.
		Extra: map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}},
	}
	fmt.Println(cfg)
	cfg.Whole = true // not streamed
	fmt.Println(cfg)
	// Output:
	// openai(http://127.0.0.1:8000/v1, qwen3-8b(Qwen/Qwen3-8B, max tokens 16000), streamed, first token within 2m0s, silence up to 30s, 2 tokens/s over 30s)
	// openai(http://127.0.0.1:8000/v1, qwen3-8b(Qwen/Qwen3-8B, max tokens 16000), in one piece)
}

func ExampleClient() {
	srv := llmtest.NewServer(llmtest.Config{Fault: llmtest.Must("503:1")})
	defer srv.Close()
	client, err := openai.New(openai.Config{BaseURL: srv.URL, Model: llm.Models()[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	model := llm.Retry(llm.Limit(client, 16), llm.RetryConfig{Wait: time.Millisecond})
	reply, err := model.Generate(context.Background(), llm.Request{
		Seed:     40,
		Messages: []llm.Message{{Role: llm.User, Content: "```js\nf()\n```"}},
	})
	fmt.Print(reply.Text, err, "\n")
	for _, a := range reply.Attempts {
		fmt.Printf("%s %q %q\n", a.Status, a.Kind, a.FinishReason)
	}
	// Output:
	// ```js
	// f()
	// ```
	// <nil>
	// error "server" ""
	// ok "" "stop"
}

func ExampleStream() {
	// A server that sends some of its answer and then nothing more.
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(llmtest.Request) string { return "forty bytes of answer: that is ten tokens" },
		Fault: llmtest.Must("hang body:1"),
	})
	defer srv.Close()
	client, err := openai.New(openai.Config{
		BaseURL: srv.URL,
		Model:   llm.Model{Key: "qwen3-8b", ActiveParams: 8_190_726_144},
		Stream:  openai.Stream{Silence: 2 * time.Second},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	l := llm.Retry(client, llm.RetryConfig{MaxStalls: 1, Wait: -1})
	reply, err := l.Generate(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}})
	for _, a := range reply.Attempts {
		fmt.Println(a.Status, a.Streamed, a.Usage.CompletionTokens)
	}
	fmt.Println(reply.Text, err)
	// Output:
	// stalled 5 5
	// ok 11 11
	// forty bytes of answer: that is ten tokens <nil>
}
