package gateway_test

import (
	"context"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
)

// An agent that is a program gets the environment of a session. Here a client of OpenAI's stands for it.
func Example() {
	g, err := gateway.Listen(gateway.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	s := g.Open(gateway.SessionConfig{
		Calls: 1,
		Ask: func(_ context.Context, req llm.Request) (llm.Reply, error) { // a model, or what counts and records its calls
			return llm.Reply{Text: "You said: " + req.Messages[0].Content}, nil
		},
	})
	defer s.Close()
	agent := sdk.NewChatCompletionService(option.WithBaseURL(s.BaseURL()+"/v1"), option.WithAPIKey(s.Token()))
	for range 2 {
		answer, err := agent.New(context.Background(), sdk.ChatCompletionNewParams{
			Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("hello")},
		})
		if err != nil {
			fmt.Println("refused for good")
			continue
		}
		fmt.Println(answer.Choices[0].Message.Content)
	}
	// Output:
	// You said: hello
	// refused for good
}
