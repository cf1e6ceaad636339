package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
)

const responsesPath = "/v1/responses"

// What Codex sends is passed on: its own messages, calls and results, and functions alone of its tools.
func TestResponsesRequest(t *testing.T) {
	s, a := open(t, gateway.Config{}, says("hello"))
	resp, text := client{t, s, nil}.do("POST", responsesPath, `{"model":"any","instructions":"Be brief.","store":false,"max_output_tokens":50,
		"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
			{"role":"user","content":"hi"},{"type":"reasoning","id":"r","summary":[]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
			{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"list","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"text"},
			{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"a"}]}],
		"tools":[{"type":"function","name":"read","description":"d","strict":false,"parameters":{"type":"object"}},
			{"type":"web_search"},{"type":"namespace","name":"n","tools":[]}],
		"tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"]}`)
	if resp.StatusCode != 200 {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	most := 50
	want := llm.Request{MaxTokens: &most, Tools: []llm.Tool{{Name: "read", Description: "d", Parameters: `{"type":"object"}`}},
		Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.System, Content: "rules"},
			{Role: llm.User, Content: "hi"},
			{Role: llm.Assistant, Content: "I look.", Calls: []llm.ToolCall{{ID: "c1", Name: "read", Arguments: "{}"},
				{ID: "c2", Name: "list", Arguments: "{}"}}},
			{Role: llm.ToolResult, CallID: "c1", Content: "text"}, {Role: llm.ToolResult, CallID: "c2", Content: "a"}}}
	got := a.asked()[0]
	got.Seed = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for body, says := range map[string]string{
		`{"input":[]}`: "at least one is needed",
		`{"input":"hi","previous_response_id":"r"}`:                                    "not stored here",
		`{"input":"hi","tool_choice":{"type":"function","name":"f"}}`:                  "tool_choice",
		`{"input":"hi","text":{"format":{"type":"json_schema"}}}`:                      "text.format",
		`{"input":[{"role":"user","content":[{"type":"input_image"}]}]}`:               `input[0]: content[0]: a part of the type "input_image"`,
		`{"input":[{"type":"local_shell_call"}]}`:                                      `the type "local_shell_call"`,
		`{"input":[{"type":"function_call","name":"f"}]}`:                              "need a call_id",
		`{"input":[{"role":"tool","content":"x"}]}`:                                    "the role",
		`{"input":"hi","tools":[{"type":"function","name":"f","parameters":[]}]}`:      "tools[0]",
		`{"input":{"role":"user"}}`:                                                    "of no use there",
		`{"input":[` + strings.Repeat(`{},`, 200_000) + `{"role":"user"}],"stream":1}`: "",
	} {
		resp, text := client{t, s, nil}.do("POST", responsesPath, body)
		if resp.StatusCode != 400 || !strings.Contains(text, strings.ReplaceAll(says, `"`, `\"`)) {
			t.Errorf("%.100s: %d %s, want %s", body, resp.StatusCode, text, says)
		}
	}
}

// OpenAI's own client reads answers, whole and streamed.
func TestResponsesOfOpenAIsClient(t *testing.T) {
	s, _ := open(t, gateway.Config{}, says("hello", readCall, listCall))
	c := sdk.NewResponseService(option.WithBaseURL(s.BaseURL()+"/v1"), option.WithAPIKey(s.Token()), option.WithMaxRetries(0))
	params := sdk.ResponseNewParams{Model: "any", Input: sdk.ResponseNewParamsInputUnion{OfString: param.NewOpt("hi")}}
	check := func(how string, r *sdk.Response) {
		t.Helper()
		if r.Status != "completed" || r.OutputText() != "hello" || len(r.Output) != 3 ||
			r.Output[1].AsFunctionCall().Arguments != readCall.Arguments || r.Output[2].AsFunctionCall().CallID != "c2" ||
			r.Usage.InputTokens != 10 || r.Usage.InputTokensDetails.CachedTokens != 4 || r.Usage.OutputTokens != 3 {
			t.Errorf("%s: %s", how, r.RawJSON())
		}
	}
	r, err := c.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	check("whole", r)
	events := c.NewStreaming(t.Context(), params)
	text, number := "", int64(0)
	arguments := make(map[string]string)
	var kinds []string
	for events.Next() {
		e := events.Current()
		if e.SequenceNumber != number {
			t.Errorf("%s has the number %d, want %d", e.Type, e.SequenceNumber, number)
		}
		number++
		kinds = append(kinds, e.Type)
		switch e := e.AsAny().(type) {
		case sdk.ResponseTextDeltaEvent:
			text += e.Delta
		case sdk.ResponseFunctionCallArgumentsDeltaEvent:
			arguments[e.ItemID] += e.Delta
		case sdk.ResponseCompletedEvent:
			check("streamed", &e.Response)
		}
	}
	if err := events.Err(); err != nil || text != "hello" || len(arguments) != 2 || kinds[len(kinds)-1] != "response.completed" {
		t.Errorf("%v, %q, %v, %q", err, text, arguments, kinds)
	}
	failing, _ := open(t, gateway.Bounded(0, 0, 1), later(fails(&llm.Error{Status: llm.Failed, Kind: llm.KindServer})))
	_, stream := client{t, failing, nil}.do("POST", responsesPath, `{"input":"hi","stream":true}`)
	if !strings.Contains(stream, "response.created") || !strings.Contains(stream, `"type":"response.failed"`) {
		t.Errorf("an error in a stream: %s", stream)
	}
}
