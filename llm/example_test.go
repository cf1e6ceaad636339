package llm_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// shout stands for a model here: it answers with the last message in other words.
func shout(_ context.Context, req llm.Request) (llm.Reply, error) {
	text := req.Messages[len(req.Messages)-1].Content + "!"
	usage := llm.Usage{PromptTokens: 3, CompletionTokens: 2}
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK, Usage: &usage, FinishReason: "stop"}}}, nil
}

// say is a request with one message.
func say(text string, seed uint32) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}, Seed: seed}
}

func ExampleLLM() {
	var model llm.LLM = llm.Func(shout)
	reply, err := model.Generate(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "hello"}},
	})
	fmt.Println(reply.Text, err)
	// Output: hello! <nil>
}

func ExampleFunc() {
	// A model that is always busy, to see what a search does about it.
	busy := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Err: errors.New("busy")}
	})
	_, err := busy.Generate(context.Background(), llm.Request{})
	fmt.Println(err)
	// Output: llm: busy
}

func ExampleMessage() {
	req := llm.Request{Messages: []llm.Message{
		{Role: llm.System, Content: "Answer with one program."},
		{Role: llm.User, Content: "Pack circles."},
	}}
	fmt.Println(len(req.Messages), req.Messages[0].Role)
	// Output: 2 system
}

func ExampleRequest() {
	// Greedy decoding for this request alone: an override is a pointer, so that 0 can be said.
	req := llm.Request{Seed: 40, Temperature: new(0.0)}
	fmt.Println(*req.Temperature, req.TopP == nil)
	// Output: 0 true
}

func ExampleReply() {
	reply, _ := shout(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}})
	for i, a := range reply.Attempts {
		fmt.Println(i, a.Status, a.FinishReason, a.Usage.CompletionTokens)
	}
	// Output: 0 ok stop 2
}

func ExampleAttempt() {
	a := llm.Attempt{Status: llm.Timeout, MaxTokens: 16000, Latency: 900 * time.Second, Err: "no answer"}
	fmt.Println(a.Status, a.Usage == nil, a.MaxTokens)
	// Output: timeout true 16000
}

func ExampleStatus() {
	fmt.Println(llm.StatusOf(nil), llm.StatusOf(context.DeadlineExceeded), llm.StatusOf(errors.New("no")))
	// Output: ok timeout error
}

func ExampleUsage() {
	u := llm.Usage{PromptTokens: 1200, CachedTokens: 1024, CompletionTokens: 800}
	fmt.Println(u.PromptTokens-u.CachedTokens+u.CompletionTokens, "tokens computed")
	// Output: 976 tokens computed
}

func ExampleError() {
	var err error = &llm.Error{
		Status: llm.Failed, Kind: llm.KindAuth, Endpoint: "http://127.0.0.1:8000/v1", Code: 401,
		Err: errors.New("the key was rejected"),
	}
	err = fmt.Errorf("generation 3: %w", err)
	if e, ok := errors.AsType[*llm.Error](err); ok {
		fmt.Println(e.Kind, e.Code, llm.Unavailable(err), llm.Retryable(err))
	}
	// Output: auth 401 true false
}

func ExampleModel() {
	// A mixture of experts is another value: it is charged for the parameters that work.
	m := llm.Model{Key: "moe", Name: "org/moe-30b", ActiveParams: 3_000_000_000}
	fmt.Println(m)
	// Output: moe(org/moe-30b, max tokens 16000)
}

func ExampleModels() {
	for _, m := range llm.Models() {
		fmt.Println(m.Key, m.ActiveParams)
	}
	// Output:
	// qwen3-8b 8190726144
	// qwen3-14b 14768296960
	// llama-8b 8030261248
}

func ExampleRequest_Digest() {
	fmt.Printf("%x\n", llm.Request{Messages: []llm.Message{{Role: "user", Content: "x"}}, Seed: 7}.Digest())
	// Output: 7ae954e4ef970c6aa96e23f491d5bbc0fee1ece8409bf423d37551c24c6ae410
}

func ExampleLimit() {
	fmt.Println(llm.Limit(llm.Func(shout), 16))
	// Output: Limit(llm.Func, 16)
}

func ExampleRetry() {
	tries := 0
	flaky := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if tries++; tries == 1 {
			err := &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Code: 503, Err: errors.New("loading")}
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: err.Kind}}}, err
		}
		return shout(ctx, req)
	})
	model := llm.Retry(llm.Limit(flaky, 16), llm.RetryConfig{Wait: time.Millisecond})
	reply, err := model.Generate(context.Background(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "again"}}})
	fmt.Println(reply.Text, err, len(reply.Attempts), reply.Attempts[0].Kind)
	// Output: again! <nil> 2 server
}

func ExampleRetryConfig() {
	fmt.Println(llm.RetryConfig{})
	fmt.Println(llm.PaperRetry())
	fmt.Println(llm.RetryConfig{Max: 6, MaxStalls: 1, Wait: time.Second, Factor: 2, Jitter: 0.5})
	// Output:
	// max 2, 500ms apart, times 2 up to 1m0s, jitter 1
	// max 2, 5s apart
	// max 6, 1s apart, max 1 stalls, times 2 up to 1m0s, jitter 0.5
}
