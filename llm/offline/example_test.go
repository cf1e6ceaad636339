package offline_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// The model answers with the program it is shown, some number of it changed.
func ExampleModel() {
	m, err := offline.New(offline.Config{Broken: -1})
	if err != nil {
		panic(err)
	}
	reply, err := m.Generate(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "Raise the score.\n\n```js\nreturn 0.5 * x2\n```\n"}},
		Seed:     5,
	})
	if err != nil {
		panic(err)
	}
	a := reply.Attempts[0]
	fmt.Println(reply.Text)
	fmt.Printf("%s, %s, %+v\n", a.Status, a.FinishReason, *a.Usage)
	// Output:
	// Here is the rewritten program.
	//
	// ```js
	// return 0.507722901 * x2
	// ```
	//
	// Tell me the new score and I will go on.
	// ok, stop, {PromptTokens:11 CachedTokens:0 CompletionTokens:27}
}

// It may pass for another model, so that FLOPs come out at that model's size.
func ExampleConfig() {
	m, err := offline.New(offline.Config{Model: llm.Models()[0], Latency: 20 * time.Millisecond})
	fmt.Println(m, err)
	fmt.Println(m.Spec().ActiveParams)
	_, err = offline.New(offline.Config{Broken: 5})
	fmt.Println(err)
	// Output:
	// offline(qwen3-8b(Qwen/Qwen3-8B, max tokens 16000), broken 0.05, latency 20ms) <nil>
	// 8190726144
	// offline: Config.Broken is 5: need a share of replies, at most 1
}

func ExampleNominal() {
	fmt.Println(offline.Nominal().Key, offline.Nominal().ActiveParams)
	// Output: offline 1000000
}
