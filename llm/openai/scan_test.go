package openai

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// scanned are events, and whether a scan reads them to their end. encoding/json decides on the others.
var scanned = []struct {
	reason, data string
	whole        bool
}{
	{"vLLM's", `{"id":"c","created":1.7e9,"choices":[{"index":0,"delta":{"content":"a\nb"},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`, true},
	{"OpenAI's last", `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0}}}`, true},
	{"OpenAI's without usage", `{"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":"stop"}],"usage":null}`, true},
	{"calls of tools", `{"choices":[{"delta":{"content":null,"tool_calls":[ {"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}} ]}}]}`, true},
	{"calls that are null", `{"choices":[{"delta":{"tool_calls":null}}]}`, true},
	{"calls that are no list", `{"choices":[{"delta":{"tool_calls":7}}]}`, true},
	{"calls twice", `{"choices":[{"delta":{"tool_calls":[],"tool_calls":[]}}]}`, false},
	{"reasoning", `{"choices":[{"delta":{"reasoning_content":"hm\u00e9\ud83d\ude00","content":null}}]}`, true},
	{"a reasoning that is no string", `{"choices":[{"delta":{"reasoning":{"a":[1,true,{}]}},"finish_reason":7}]}`, true},
	{"blanks", " {\t\"choices\" : [ { \"delta\" : { } , \"index\" : 1 } , {} ] } \n", true},
	{"bytes that are not UTF-8", "{\"choices\":[{\"delta\":{\"content\":\"\xe2\x82\"}}]}", true},
	{"no error", `{"error":null,"choices":null}`, true},
	{"an error", `{"error":{"message":"no"}}`, false},
	{"a name in capitals, which encoding/json takes", `{"Choices":[{"delta":{"content":"x"}}]}`, false},
	{"a name with a letter that is like an ASCII one", `{"choice\u017f":[],"choice` + "\u017f" + `":[{}]}`, false},
	{"a name with an escape", `{"\u0063hoices":[{}]}`, false},
	{"a field twice", `{"choices":[{"delta":{"content":"x"},"delta":{"reasoning":"y"}}]}`, false},
	{"content that is a number", `{"choices":[{"delta":{"content":1}}]}`, false},
	{"an index that is a fraction", `{"choices":[{"index":1.5}]}`, false},
	{"a choice that is null", `{"choices":[null]}`, false},
	{"a comma too many", `{"choices":[{}],}`, false},
	{"a number that begins with 0", `{"created":01}`, false},
	{"a control character in a string", "{\"id\":\"\x01\"}", false},
	{"an escape that there is not", `{"id":"\x"}`, false},
	{"cut", `{"choices":[{"delta":{"content":"x`, false},
	{"more after it", `{} {}`, false},
	{"nested without end", strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), false},
	{"a count beyond all bounds", `{"usage":{"prompt_tokens":1e30,"completion_tokens":-1}}`, true},
	{"half a usage", `{"usage":{"prompt_tokens":3}}`, true},
}

func TestScan(t *testing.T) {
	for _, tt := range scanned {
		var c chunk
		if whole := (&scan{b: []byte(tt.data)}).chunk(&c); whole != tt.whole {
			t.Errorf("%s: read to its end: %v", tt.reason, whole)
		}
		if diff := scanDiffers([]byte(tt.data)); diff != "" {
			t.Errorf("%s: %s", tt.reason, diff)
		}
	}
}

// A scan never contradicts encoding/json.
func FuzzScan(f *testing.F) {
	for _, tt := range scanned {
		f.Add([]byte(tt.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if diff := scanDiffers(data); diff != "" {
			t.Error(diff)
		}
	})
}

// scanDiffers says in what a scan of data differs from what encoding/json makes of it.
func scanDiffers(data []byte) string {
	var got, want chunk
	if !(&scan{b: data}).chunk(&got) {
		return ""
	}
	if err := json.Unmarshal(data, &want); err != nil {
		return fmt.Sprintf("scanned %q, which is an error: %v", data, err)
	}
	if want.failed() || len(got.Choices) != len(want.Choices) || string(got.Usage) != string(want.Usage) {
		return fmt.Sprintf("scanned %q as %+v, want %+v", data, got, want)
	}
	for i := range got.Choices {
		if got.Choices[i] != want.Choices[i] {
			return fmt.Sprintf("scanned choice %d of %q as %+v, want %+v", i, data, got.Choices[i], want.Choices[i])
		}
	}
	u, ok := (&scan{b: got.Usage}).usage()
	if was := decodeUsage(want.Usage); ok && !reflect.DeepEqual(u, was) {
		return fmt.Sprintf("scanned usage %q as %v, want %v", got.Usage, u, was)
	}
	return ""
}
