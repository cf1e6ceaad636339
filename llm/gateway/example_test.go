package gateway_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// An agent that is a program gets the environment of a session. Here a client of package openai stands for it.
func Example() {
	g, err := gateway.Listen(gateway.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	s := g.Open(gateway.SessionConfig{
		Ask: func(_ context.Context, req llm.Request) (llm.Reply, error) { // a model, or what counts and records its calls
			return llm.Reply{Text: "You said: " + req.Messages[0].Content}, nil
		},
	})
	defer s.Close()
	agent, err := openai.New(openai.Config{Seed: true, BaseURL: s.BaseURL() + "/v1", APIKey: s.Token(), Model: llm.Model{Key: "any"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer agent.Close()
	answer, err := agent.Generate(context.Background(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text)
	// Output: You said: hello
}
