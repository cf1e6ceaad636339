package openai

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
)

// called are messages or the deltas of a stream, each the value of tool_calls, and the calls in them.
var called = []struct {
	reason string
	deltas []string
	want   []llm.ToolCall
	why    string // "" if they are usable
}{
	{"OpenAI's pieces", []string{
		`[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]`,
		`[{"index":0,"function":{"arguments":"{\"a\""}}]`, `[{"index":0,"function":{"arguments":":1}"}}]`,
		`[{"index":1,"id":"c2","type":"function","function":{"name":"list","arguments":""}}]`,
		`[{"index":1,"function":{"arguments":"{}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "read", Arguments: `{"a":1}`}, {ID: "c2", Name: "list", Arguments: "{}"}}, ""},
	{"pieces of two calls in turns", []string{
		`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}},{"index":1,"id":"c2","function":{"name":"g","arguments":"["}}]`,
		`[{"index":1,"function":{"arguments":"]"}}]`, `[{"index":0,"function":{"arguments":"}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "g", Arguments: "[]"}}, ""},
	{"whole calls, all as number 0, as Ollama sends them", []string{
		`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"s\":\"}\\\"\"}"}}]`,
		`[{"index":0,"id":"c2","function":{"name":"f","arguments":"{}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"s":"}\""}`}, {ID: "c2", Name: "f", Arguments: "{}"}}, ""},
	{"another ID with each piece", []string{
		`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":"}}]`,
		`[{"index":0,"id":"c2","function":{"name":"f","arguments":"{}}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"a":{}}`}}, ""},
	{"no index", []string{
		`[{"id":"c1","function":{"name":"f","arguments":"{"}}]`, `[{"function":{"arguments":"}"}}]`,
		`[{"id":"c2","function":{"name":"g","arguments":"{}"}}]`,
	}, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "g", Arguments: "{}"}}, ""},
	{"arguments that are an object, and none",
		[]string{`[{"id":"a","function":{"name":"f","arguments":{"x":1}}},{"id":"b","function":{"name":"g"}}]`},
		[]llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g"}}, ""},
	{"IDs that are missing, numbers, too long or there already", []string{
		`[{"function":{"name":"f"}},{"id":7,"function":{"name":"f"}},{"id":"` + strings.Repeat("x", 1000) +
			`","function":{"name":"f"}},` +
			`{"id":"a","function":{"name":"f"}},{"id":"a","function":{"name":"f"}},{"id":"\u001b[2J","function":{"name":"f"}}]`,
	}, []llm.ToolCall{{Name: "f"}, {Name: "f"}, {Name: "f"}, {ID: "a", Name: "f"}, {Name: "f"}, {Name: "f"}}, ""},
	{"a name that a terminal obeys", []string{`[{"id":"a","function":{"name":"rm\u001b[2J\n` + strings.Repeat("x", 1000) +
		`"}}]`},
		[]llm.ToolCall{{ID: "a", Name: "rm " + strings.Repeat("x", 125) + "..."}}, ""},
	{"an index beyond all lists", []string{`[{"index":2000000000,"id":"a","function":{"name":"f"}}]`},
		[]llm.ToolCall{{ID: "a", Name: "f"}}, ""},
	{"a name that is empty", []string{`[{"id":"a","function":{"name":"","arguments":"{}"}}]`}, nil,
		"tool call 0 has no name"},
	{"an index below 0", []string{`[{"index":-1,"id":"a","function":{"name":"f"}}]`}, nil, "the index -1"},
	{"a million calls", []string{"[" + strings.Repeat(`{"id":"a","function":{"name":"f"}},`, 1e6) + "{}]"}, nil,
		"more than 128 tool calls"},
	{"no list", []string{`{"index":0}`}, nil, "tool_calls is no list"},
	{"a call that is a number", []string{`[7]`}, nil, "wrong-typed JSON"},
	{"arguments that are a number", []string{`[{"function":{"name":"f","arguments":7}}]`}, nil, "arguments is a number"},
}

func TestCallsInPieces(t *testing.T) {
	for _, tt := range called {
		var l callList
		var broken *brokenReply
		for _, d := range tt.deltas {
			if broken == nil {
				broken = l.add(rawJSON(d))
			}
		}
		var got []llm.ToolCall
		if broken == nil {
			got, broken = l.calls()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
		if (broken == nil) != (tt.why == "") || broken != nil && !strings.Contains(broken.why, tt.why) {
			t.Errorf("%s: broken %+v, want %q", tt.reason, broken, tt.why)
		}
	}
}

// An answer with calls needs no text, and one to a request without tools has no calls.
func TestDecodeCalls(t *testing.T) {
	const body = `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	ans, broken := decode([]byte(body), true)
	want := answer{finish: "tool_calls", calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}}}
	if diff := cmp.Diff(want, ans, cmp.AllowUnexported(answer{})); diff != "" || broken != nil {
		t.Errorf("broken %+v (-want +got):\n%s", broken, diff)
	}
	if _, broken := decode([]byte(body), false); broken == nil || !strings.Contains(broken.why, "no content") {
		t.Errorf("without tools: broken %+v", broken)
	}
	none := strings.Replace(body, `[{"id":"a","function":{"name":"f","arguments":"{}"}}]`, "[]", 1)
	if _, broken := decode([]byte(none), true); broken == nil ||
		!strings.Contains(broken.why, `finish reason "tool_calls"`) {
		t.Errorf("tools, but no call: broken %+v", broken)
	}
}

// The bound on the text of a stream counts names and arguments, and a delta that brings nothing is no token.
func TestTranscriptBoundsCalls(t *testing.T) {
	piece := []byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"0123456789"}}]}}]}`)
	nothing := []byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":""}}]}}]}`)
	tr := transcript{max: 100, tools: true}
	var broken *brokenReply
	n := 0
	for ; n < 20 && broken == nil; n++ {
		_, broken = tr.add(piece, nil)
		if tokens, _ := tr.add(nothing, nil); tokens != 0 {
			t.Fatalf("%d tokens in a delta without text", tokens)
		}
	}
	if broken == nil || !strings.Contains(broken.why, "longer than Config.MaxBody") || n != 10 {
		t.Errorf("after %d pieces: %+v", n, broken)
	}
}

// Calls of any form are bounded, have names and IDs, and are fit for a terminal in both.
func FuzzCalls(f *testing.F) {
	for _, tt := range called {
		if joined := strings.Join(tt.deltas, "\n"); len(joined) < 1e4 {
			f.Add([]byte(joined))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var l callList
		for delta := range bytes.SplitSeq(data, []byte("\n")) {
			if l.add(rawJSON(delta)) != nil {
				break
			}
		}
		calls, _ := l.calls()
		size := 0
		for i, c := range named(calls, 3) {
			size += len(c.Arguments)
			if c.ID == "" || c.Name == "" || strings.ContainsAny(c.ID+c.Name, "\n\x1b") {
				t.Errorf("call %d is %+v", i, c)
			}
		}
		if len(calls) > maxCalls || size > 3*len(data) {
			t.Errorf("%d calls of %d bytes from %d", len(calls), size, len(data))
		}
	})
}

// BenchmarkCalls reads a stream of a thousand pieces of one call. Times are for one piece.
//
//	go test -run '^$' -bench Calls -benchmem ./llm/openai
func BenchmarkCalls(b *testing.B) {
	const tokens = 1000
	var body strings.Builder
	body.WriteString(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}` + "\n\n")
	for i := range tokens {
		fmt.Fprintf(&body, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"%04d"}}]}}]}`+
			"\n\n", i)
	}
	body.WriteString(`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n")
	b.ReportAllocs()
	for n := 0; n < b.N; n += tokens {
		t := transcript{max: defaultMaxBody, tools: true}
		w := newWatch(Stream{}.withDefaults(), func(error) {})
		err := t.read(newEventReader(strings.NewReader(body.String())), w)
		w.stop()
		if a := t.answer(); err != nil || len(a.calls) != 1 || len(a.calls[0].Arguments) != 4*tokens {
			b.Fatalf("%v, %d calls", err, len(a.calls))
		}
	}
}
