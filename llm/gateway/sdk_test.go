//go:build soak

package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
)

// These tests have OpenAI's own client, which takes a minute to compile, and so run at full length alone. In the normal
// run TestChatClient has the client of package openai.

func sdkClient(s *gateway.Session, retries int) sdk.ChatCompletionService {
	return sdk.NewChatCompletionService(option.WithBaseURL(s.BaseURL()+"/v1"), option.WithAPIKey(s.Token()),
		option.WithMaxRetries(retries))
}

var sdkParams = sdk.ChatCompletionNewParams{
	Model:         "gpt",
	Messages:      []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage("Be brief."), sdk.UserMessage("hi")},
	StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	Tools: []sdk.ChatCompletionToolUnionParam{
		sdk.ChatCompletionFunctionTool(sdk.FunctionDefinitionParam{Name: "read",
			Parameters: sdk.FunctionParameters{"type": "object"}}),
		sdk.ChatCompletionFunctionTool(sdk.FunctionDefinitionParam{Name: "list"}),
	},
}

// OpenAI's own client understands answers, streamed and whole.
func TestOpenAIsClient(t *testing.T) {
	long := strings.Repeat("häh? ", 300)
	args := `{"text":"` + long + `"}`
	s, a := open(t, gateway.Bounded(0, 0, time.Millisecond),
		later(says(long, llm.ToolCall{ID: "c1", Name: "read", Arguments: args}, listCall)))
	check := func(how string, c sdk.ChatCompletion) {
		t.Helper()
		if len(c.Choices) != 1 {
			t.Fatalf("%s: %s", how, c.RawJSON())
		}
		m := c.Choices[0].Message
		if m.Content != long || c.Choices[0].FinishReason != "tool_calls" || c.Model != "small" ||
			c.Usage.PromptTokens != 10 ||
			c.Usage.CompletionTokens != 3 || len(m.ToolCalls) != 2 || m.ToolCalls[0].Function.Arguments != args ||
			m.ToolCalls[1].Function.Name != "list" || m.ToolCalls[1].ID != "c2" {
			t.Errorf("%s: %+v", how, c)
		}
	}
	chat := sdkClient(s, 0)
	c, err := chat.New(t.Context(), sdkParams)
	if err != nil {
		t.Fatal(err)
	}
	check("whole", *c)
	events := chat.NewStreaming(t.Context(), sdkParams)
	var all sdk.ChatCompletionAccumulator
	for events.Next() {
		if !all.AddChunk(events.Current()) {
			t.Errorf("a chunk does not follow: %s", events.Current().RawJSON())
		}
	}
	if err := events.Err(); err != nil {
		t.Error(err)
	}
	check("streamed", all.ChatCompletion)
	if reqs := a.asked(); len(reqs) != 2 || len(reqs[0].Tools) != 2 || reqs[0].Messages[0].Content != "Be brief." {
		t.Errorf("asked %+v", reqs)
	}
}

// OpenAI's own client asks again after a failure that may pass, and not after a final one, in a stream either.
func TestOpenAIsClientRetries(t *testing.T) {
	for _, tt := range []struct {
		reason string
		err    error
		calls  int
	}{
		{"a failure that passes", &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("x")}, 3},
		{"too many requests", &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, RetryAfter: time.Millisecond,
			Err: errors.New("x")}, 3},
		{"a budget that is spent", errors.New("x"), 1},
		{"a prompt that does not fit", &llm.Error{Status: llm.Failed, Kind: llm.KindContextLength, Err: errors.New("x")}, 1},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			s, a := open(t, gateway.Config{}, fails(tt.err))
			_, err := func() (*sdk.ChatCompletion, error) { chat := sdkClient(s, 2); return chat.New(t.Context(), sdkParams) }()
			if _, ok := errors.AsType[*sdk.Error](err); !ok || len(a.asked()) != tt.calls {
				t.Errorf("%d calls, want %d; %v", len(a.asked()), tt.calls, err)
			}
		})
	}
	s, _ := open(t, gateway.Bounded(0, 0, time.Millisecond), later(fails(errors.New("x"))))
	chat := sdkClient(s, 0)
	events := chat.NewStreaming(t.Context(), sdkParams)
	for events.Next() {
		t.Errorf("a chunk: %s", events.Current().RawJSON())
	}
	if err := events.Err(); err == nil || !strings.Contains(err.Error(), "takes no further calls") {
		t.Errorf("an error in a stream: %v", err)
	}
}
