package llm

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	say := func(s string) []Message { return []Message{{Role: "user", Content: s}} }
	for _, tt := range []struct {
		reason string
		req    Request
		want   string
	}{
		{"names are in order and what is nil is left out", Request{Messages: say("x"), Seed: 7},
			`{"messages":[{"content":"x","role":"user"}],"seed":7}`},
		{"every override has its place", Request{Temperature: new(0.25), TopP: new(1.0), MaxTokens: new(9)},
			`{"max_tokens":9,"messages":[],"seed":0,"temperature":0.25,"top_p":1}`},
		{"no messages and an empty list of them are the same", Request{Messages: []Message{}},
			`{"messages":[],"seed":0}`},
		{"only what must be escaped is", Request{Messages: say("<a> & \"b\" \\ é \u2028 /\x7f")},
			`{"messages":[{"content":"<a> & \"b\" \\ é ` + "\u2028" + ` /` + "\x7f" + `","role":"user"}],"seed":0}`},
		{"control characters have their short form or \\u00xx", Request{Messages: say("\b\t\n\f\r\x00\x1f")},
			`{"messages":[{"content":"\b\t\n\f\r\u0000\u001f","role":"user"}],"seed":0}`},
		{"each bad byte is one U+FFFD, as in encoding/json", Request{Messages: say("a\xff\xfeb\xe2\x82")},
			`{"messages":[{"content":"a` + "\ufffd\ufffd" + `b` + "\ufffd\ufffd" + `","role":"user"}],"seed":0}`},
		{"a real U+FFFD stays", Request{Messages: say("\ufffd")},
			`{"messages":[{"content":"` + "\ufffd" + `","role":"user"}],"seed":0}`},
		{"numbers are ECMAScript's: small", Request{Temperature: new(1e-7), TopP: new(1e-6)},
			`{"messages":[],"seed":0,"temperature":1e-7,"top_p":0.000001}`},
		{"numbers are ECMAScript's: large", Request{Temperature: new(1e21), TopP: new(123456789012345680000.0)},
			`{"messages":[],"seed":0,"temperature":1e+21,"top_p":123456789012345680000}`},
		{"tools, calls of them and their results have their places", Request{
			Messages: []Message{{Role: Assistant, Calls: []ToolCall{{"1", "read", `{"a":1}`}, {"2", "list", ""}}},
				{Role: ToolResult, Content: "x", CallID: "1"}},
			Temperature: new(0.5), Tools: []Tool{{"read", "reads", "{}"}, {"list", "", "{}"}}, TopP: new(1.0)},
			`{"messages":[{"content":"","role":"assistant","tool_calls":[{"arguments":"{\"a\":1}","id":"1","name":"read"},` +
				`{"arguments":"","id":"2","name":"list"}]},{"content":"x","role":"tool","tool_call_id":"1"}],"seed":0,` +
				`"temperature":0.5,"tools":[{"description":"reads","name":"read","parameters":"{}"},` +
				`{"description":"","name":"list","parameters":"{}"}],"top_p":1}`},
		{"minus zero is zero", Request{Temperature: new(math.Copysign(0, -1))},
			`{"messages":[],"seed":0,"temperature":0}`},
		{"what JSON cannot hold is null", Request{Temperature: new(math.NaN()), TopP: new(math.Inf(1))},
			`{"messages":[],"seed":0,"temperature":null,"top_p":null}`},
	} {
		if got := string(appendCanonical(nil, tt.req)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.reason, got, tt.want)
		}
	}
}

// The value was found with sha256sum over the bytes that TestCanonical shows.
func TestDigestIsKnown(t *testing.T) {
	req := Request{Messages: []Message{{Role: "user", Content: "x"}}, Seed: 7}
	const want = "7ae954e4ef970c6aa96e23f491d5bbc0fee1ece8409bf423d37551c24c6ae410"
	if got := fmt.Sprintf("%x", req.Digest()); got != want {
		t.Errorf("digest %s, want %s: journals and recordings name requests by it", got, want)
	}
}

// A field added to Request that Digest does not know of would make different requests one.
func TestDigestSeesEveryField(t *testing.T) {
	base := reflect.TypeFor[Request]()
	plain := Request{}.Digest()
	for i := range base.NumField() {
		var req Request
		f := reflect.ValueOf(&req).Elem().Field(i)
		switch f.Kind() {
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Uint32:
			f.SetUint(1)
		default:
			t.Fatalf("this test does not know how to set Request.%s", base.Field(i).Name)
		}
		if req.Digest() == plain {
			t.Errorf("Digest does not see Request.%s", base.Field(i).Name)
		}
	}
}

func TestDigestKeepsMessagesApart(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, content := range []string{`a","role":"user"},{"content":"b`, "a", "b", "ab", `a\`, "a\\\"", ""} {
		for _, role := range []string{"user", "system", ""} {
			key := Request{Messages: []Message{{Role: role, Content: content}}}.Digest()
			if other, ok := seen[key]; ok {
				t.Errorf("%q as %q has the digest of %s", content, role, other)
			}
			seen[key] = content + " as " + role
		}
	}
}

// FuzzCanonical holds that the canonical form is JSON, means the request, and is what any way of
// storing the request leads back to.
func FuzzCanonical(f *testing.F) {
	f.Add("user", "hello", uint32(1), 0.4, 0.95, 16000, true)
	f.Add("", "\xff\x00\u2028\"\\<>&\ud7ff", uint32(math.MaxUint32), 1e-7, -1e300, -5, false)
	f.Fuzz(func(t *testing.T, role, content string, seed uint32, temperature, topP float64, tokens int, all bool) {
		req := Request{Messages: []Message{{Role: role, Content: content}, {Role: content}}, Seed: seed}
		if all && !math.IsNaN(temperature-temperature) && !math.IsNaN(topP-topP) {
			req.Temperature, req.TopP, req.MaxTokens = &temperature, &topP, &tokens
			req.Tools = []Tool{{content, role, content}}
			req.Messages[1].Calls = []ToolCall{{role, content, content}}
		}
		canonical := appendCanonical(nil, req)
		var again Request
		if err := json.Unmarshal(canonical, &again); err != nil {
			t.Fatalf("%q is not JSON: %v", canonical, err)
		}
		if got := appendCanonical(nil, again); string(got) != string(canonical) {
			t.Errorf("read back it is\n%s, not\n%s", got, canonical)
		}
		std, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		var stored Request
		if err := json.Unmarshal(std, &stored); err != nil {
			t.Fatal(err)
		}
		if stored.Digest() != req.Digest() {
			t.Errorf("%q has another digest once encoding/json has stored it", canonical)
		}
	})
}

// BenchmarkDigest is next to encoding/json with the same hash, on a prompt of 4 KB.
func BenchmarkDigest(b *testing.B) {
	req := Request{Seed: 40, Messages: []Message{
		{Role: System, Content: strings.Repeat("Write a better program.\n", 20)},
		{Role: User, Content: strings.Repeat("const x = [0.25, \"a\"];\n", 155)},
	}}
	b.Run("Digest", func(b *testing.B) {
		b.SetBytes(int64(len(appendCanonical(nil, req))))
		b.ReportAllocs()
		for b.Loop() {
			req.Digest()
		}
	})
	b.Run("json.Marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(req); err != nil {
				b.Fatal(err)
			}
		}
	})
}
