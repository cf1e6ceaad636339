package gateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

// No request, however odd, becomes anything but a request that a model can be asked, or a refusal by status 400.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"seed":3,"stop":"x"}`,
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[]}]}`,
		`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text"}]}]}],"max_tokens":1}`,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":[1]}},{"type":"thinking"}]}],"stop_sequences":[""]}`,
		`{"messages":[{"content":{}}]}`, `{"messages":[null]}`, `{"tool_choice":{}}`, `null`, `[]`, `"`,
		`{"system":null,"messages":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []dialect{chat{}, messages{}} {
			a, err := d.parse(body)
			if err != nil {
				if f, ok := errors.AsType[*failure](err); !ok || f.status != http.StatusBadRequest || f.message == "" ||
					!json.Valid(f.body()) {
					t.Errorf("%T: %v", d, err)
				}
				continue
			}
			for _, m := range a.Messages {
				switch m.Role {
				case llm.System, llm.User, llm.Assistant:
				case llm.ToolResult:
					if m.CallID == "" {
						t.Errorf("%T: a result of no call in %s", d, body)
					}
				default:
					t.Errorf("%T: the role %q", d, m.Role)
				}
				if m.Role != llm.Assistant && len(m.Calls) > 0 {
					t.Errorf("%T: calls of the role %q", d, m.Role)
				}
			}
			for _, tool := range a.Tools {
				if tool.Name == "" || tool.Parameters != "" && !json.Valid([]byte(tool.Parameters)) {
					t.Errorf("%T: tool %+v", d, tool)
				}
			}
		}
	})
}
