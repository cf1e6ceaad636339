package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// shout stands for a model here: it answers with the last message in other words.
func shout(_ context.Context, req llm.Request) (llm.Reply, error) {
	text := req.Messages[len(req.Messages)-1].Content + "!"
	usage := llm.Usage{PromptTokens: 3, CompletionTokens: 2}
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK, Usage: &usage, FinishReason: "stop"}}}, nil
}

func say(text string, seed uint32) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}, Seed: seed}
}

func ExamplePool() {
	broken := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		err := &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Code: 503, Err: errors.New("out of memory")}
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: err.Kind}}}, err
	})
	p, err := pool.New(pool.Config{
		Endpoints: []pool.Endpoint{{Name: "gpu1", LLM: broken}, {Name: "gpu2", LLM: llm.Func(shout)}},
		Slots:     64,
	})
	if err != nil {
		panic(err)
	}
	model := llm.Retry(p, llm.RetryConfig{}) // for when all of them fail
	for i := range 8 {
		if _, err := model.Generate(context.Background(), say(fmt.Sprint("parent ", i), 1)); err != nil {
			fmt.Println(err)
		}
	}
	for _, e := range p.Report().Endpoints {
		fmt.Println(e.Name, e.OK, "answered", e.InFlight, "in flight")
	}
	// Output:
	// gpu1 0 answered 0 in flight
	// gpu2 8 answered 0 in flight
}

func ExampleEndpoint() {
	e := pool.Endpoint{Name: "gpu1", LLM: llm.Func(shout), Slots: 32}
	fmt.Println(e.Name, e.LLM, e.Slots)
	// Output: gpu1 llm.Func 32
}

func ExampleConfig() {
	p, err := pool.New(pool.Config{
		Endpoints:  []pool.Endpoint{{Name: "a", LLM: llm.Func(shout)}, {Name: "b", LLM: llm.Func(shout)}},
		Quarantine: 10 * time.Second,
	})
	fmt.Println(p, err)
	// Output: Pool(a=llm.Func ×16, b=llm.Func ×16, factor 1.25, 3 tries, out at 0.5 stalled or 0.5 failed of 5 to 10, for 10s to 2m0s) <nil>
}

func ExampleReport() {
	p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{{Name: "gpu1", LLM: llm.Func(shout)}}})
	if err != nil {
		panic(err)
	}
	p.Generate(context.Background(), say("hello", 1))
	r := p.Report()
	r.Endpoints[0].TokensPerSecond = 0 // which depends on the clock
	fmt.Print(r)
	// Output:
	//   endpoint   health  calls  in flight  stalls  failures  tokens/s  cached  outs
	//       gpu1  healthy      1    0 of 16    0.0%      0.0%         0    0.0%     0
	// 0 waiting, 0 sent on
}

func ExampleEndpointReport() {
	e := pool.EndpointReport{Name: "gpu1", Health: pool.Healthy, OK: 19, Stalls: 1, StallRate: 0.05}
	fmt.Printf("%s is %s: %.0f%% of its attempts stalled\n", e.Name, e.Health, 100*e.StallRate)
	// Output: gpu1 is healthy: 5% of its attempts stalled
}

func ExampleEvent() {
	fmt.Println(pool.Event{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Endpoint: "gpu1", Event: "out",
		Why: "llm: no token for 3s"})
	// Output: 03:04:05 gpu1 out: llm: no token for 3s
}

func ExampleHealth() {
	p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{{Name: "gpu1", LLM: llm.Func(shout)}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Report().Endpoints[0].Health)
	// Output: healthy
}
