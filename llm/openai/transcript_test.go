package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
)

// Chunks, as servers send them.
func text(s string) string   { return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s) }
func think(s string) string  { return fmt.Sprintf(`{"choices":[{"delta":{"reasoning":%q}}]}`, s) }
func finish(s string) string { return fmt.Sprintf(`{"choices":[{"delta":{},"finish_reason":%q}]}`, s) }
func usage(prompt, completion int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, prompt, completion)
}
func counted(s string, completion int) string {
	return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, s,
		completion)
}

func tokensOf(prompt, completion int) *llm.Usage {
	return &llm.Usage{PromptTokens: prompt, CompletionTokens: completion}
}

const role = `{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`

// A transcriptCase is what is read of a stream.
type transcriptCase struct {
	reason string
	chunks []string
	want   answer
	tokens int    // told as progress
	why    string // "" if the answer is usable
}

// transcriptCases are streams that go well, and usage of all kinds.
var transcriptCases = []transcriptCase{
	{"tokens, the finish reason, then usage in a chunk without choices",
		[]string{role, text("a"), text("b"), finish("stop"), usage(9, 2)},
		answer{text: "ab", finish: "stop", usage: tokensOf(9, 2), streamed: 2}, 2, ""},
	{"no usage", []string{role, text("a"), finish("stop")}, answer{text: "a", finish: "stop", streamed: 1}, 1, ""},
	{"more tokens than chunks, as with several in a chunk", []string{text("a"), finish("stop"), usage(9, 5)},
		answer{text: "a", finish: "stop", usage: tokensOf(9, 5), streamed: 5}, 5, ""},
	{"reasoning is progress and apart from the answer", []string{role, think("h"), think("m"), text("a"), finish("stop")},
		answer{text: "a", reasoning: "hm", finish: "stop", streamed: 3}, 3, ""},
	{"the same reasoning under both names is taken once",
		[]string{`{"choices":[{"delta":{"content":null,"reasoning":"hm","reasoning_content":"hm"}}]}`, text("a"),
			finish("stop")},
		answer{text: "a", reasoning: "hm", finish: "stop", streamed: 2}, 2, ""},
	{"empty deltas are no progress", []string{role, role, text(""), `{"choices":[{"delta":{}}]}`, `{"choices":[]}`},
		answer{}, 0, "without a finish reason"},
	{"unless usage grows: a token may have no text", []string{counted("a", 1), counted("", 2), counted("b", 3),
		finish("stop")},
		answer{text: "ab", finish: "stop", usage: tokensOf(9, 3), streamed: 3}, 3, ""},
	{"a finish reason that is null or empty is none",
		[]string{text("a"), `{"choices":[{"delta":{"content":"b"},"finish_reason":""}]}`},
		answer{text: "ab", streamed: 2}, 2, "without a finish reason"},
	{"text with the finish reason, and after it", []string{text("a"),
		`{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`, text("c")},
		answer{text: "abc", finish: "stop", streamed: 3}, 3, ""},
	{"usage of an early end lags behind what was seen", []string{usage(9, 0), text("a"), text("b"), text("c")},
		answer{text: "abc", usage: tokensOf(9, 3), streamed: 3}, 3, "without a finish reason"},
	{"usage that goes back is not believed", []string{counted("a", 5), counted("b", 6), usage(9, 1), finish("stop")},
		answer{text: "ab", finish: "stop", usage: tokensOf(9, 6), streamed: 6}, 6, ""},
	{"usage that cannot be true is dropped", []string{text("a"), usage(-1, -1), finish("stop")},
		answer{text: "a", finish: "stop", streamed: 1}, 1, ""},
	{"another choice was not asked for", []string{text("a"),
		`{"choices":[{"index":1,"delta":{"content":"z"},"finish_reason":"stop"}]}`},
		answer{text: "a", streamed: 1}, 1, "without a finish reason"},
	{"only thoughts, then the cap", []string{think("h"), text(""), finish("length")},
		answer{reasoning: "h", finish: "length", streamed: 1}, 1, `empty content, finish reason "length"`},
	{"an empty answer that the model ended", []string{role, finish("stop")}, answer{finish: "stop"}, 0, ""},
	{"no content at all", []string{`{"choices":[{"delta":{"content":null}}]}`, finish("stop")}, answer{finish: "stop"}, 0,
		"no content"},
	{"no choices at all", []string{usage(9, 0)}, answer{usage: tokensOf(9, 0)}, 0, "without choices"},
}

// repeatedCases are streams whose chunks come twice, or seem to.
var repeatedCases = []transcriptCase{
	{"chunks twice, told by their usage", []string{role, role, counted("a", 1), counted("a", 1), counted("b", 2),
		counted("b", 2), finish("stop"), finish("stop"), usage(9, 2), usage(9, 2)},
		answer{text: "ab", finish: "stop", usage: tokensOf(9, 2), streamed: 2}, 2, ""},
	{"equal tokens with growing usage are not the same chunk", []string{counted("a", 1), counted("a", 2), finish("stop")},
		answer{text: "aa", finish: "stop", usage: tokensOf(9, 2), streamed: 2}, 2, ""},
	{"equal tokens without usage are kept", []string{text("a"), text("a"), finish("stop"), usage(9, 2)},
		answer{text: "aa", finish: "stop", usage: tokensOf(9, 2), streamed: 2}, 2, ""},
	{"equal tokens whose usage lags are kept", []string{counted("a", 1), counted("b", 1), counted("b", 1), finish("stop"),
		usage(9, 3)},
		answer{text: "abb", finish: "stop", usage: tokensOf(9, 3), streamed: 3}, 3, ""},
	{"a finish reason twice is one", []string{text("a"), `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`},
		answer{text: "ab", finish: "stop", streamed: 2}, 2, ""},
	{"more text than tokens, in a stream that repeats itself",
		[]string{text("a"), text("a"), text("b"), text("b"), finish("stop"), finish("stop"), usage(9, 2)},
		answer{text: "aabb", finish: "stop", usage: tokensOf(9, 2), streamed: 4}, 4, "came twice: 4 with text for 2 tokens"},
}

// brokenCases are streams with an error in them, or with what is no chunk.
var brokenCases = []transcriptCase{
	{"an error object", []string{text("a"), `{"error":{"message":"boom"}}`}, answer{text: "a", streamed: 1}, 1,
		"an error in the stream"},
	{"an error that is text", []string{text("a"), `{"error":"boom"}`}, answer{text: "a", streamed: 1}, 1,
		"an error in the stream"},
	{"an error beside a finish reason",
		[]string{`{"error":{"code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`}, answer{}, 0,
		"an error in the stream"},
	{"an error that is null is none",
		[]string{`{"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`},
		answer{text: "a", finish: "stop", streamed: 1}, 1, ""},
	{"not JSON", []string{text("a"), `{"choices":[`}, answer{text: "a", streamed: 1}, 1, "malformed JSON"},
	{"content of another type", []string{`{"choices":[{"delta":{"content":["a"]}}]}`}, answer{}, 0, "wrong-typed JSON"},
	{"reasoning of another type does not matter",
		[]string{`{"choices":[{"delta":{"content":"a","reasoning":{"x":1}},"finish_reason":"stop"}]}`},
		answer{text: "a", finish: "stop", streamed: 1}, 1, ""},
	{"more text than is allowed", []string{text(strings.Repeat("a", 101))},
		answer{text: strings.Repeat("a", 101), streamed: 1}, 0, "longer than Config.MaxBody"},
	{"a character cut between two chunks", []string{"{\"choices\":[{\"delta\":{\"content\":\"a\xe2\x82\"}}]}",
		"{\"choices\":[{\"delta\":{\"content\":\"\xac\\n\"},\"finish_reason\":\"stop\"}]}"},
		answer{text: "a€\n", finish: "stop", streamed: 2}, 2, ""},
	{"half a character", []string{"{\"choices\":[{\"delta\":{\"content\":\"a\xe2\x82\"},\"finish_reason\":\"stop\"}]}"},
		answer{text: "a\ufffd", finish: "stop", streamed: 1}, 1, ""},
}

func TestTranscript(t *testing.T) {
	for _, tt := range slices.Concat(transcriptCases, repeatedCases, brokenCases) {
		t.Run(tt.reason, func(t *testing.T) {
			tr := transcript{max: 100}
			var broken *brokenReply
			tokens := 0
			for _, c := range tt.chunks {
				var n int
				if n, broken = tr.add([]byte(c), nil); broken != nil {
					break
				}
				tokens += n
			}
			if broken == nil {
				broken = tr.judge()
			}
			if diff := cmp.Diff(tt.want, tr.answer(), cmp.AllowUnexported(answer{})); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if (broken == nil) != (tt.why == "") || broken != nil && !strings.Contains(broken.why, tt.why) ||
				tokens != tt.tokens {
				t.Errorf("%d tokens, broken: %v; want %d, %q", tokens, broken, tt.tokens, tt.why)
			}
		})
	}
}

// FuzzUnquote compares with encoding/json, which differs only in what is not UTF-8.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`""`, `"a"`, `"\n\"\\\/\b\f\r\t"`, `"\u20ac\ud83d\ude00\ud83d"`, `"\ud83d\u0041"`,
		"\"\xe2\x82\"", `"é€😀"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' || json.Unmarshal(raw, &want) != nil {
			return
		}
		if got := unquote(raw); utf8.Valid(raw) && got != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	})
}

// FuzzTranscript feeds a stream whatever lines there are: it must not panic, and must keep to its
// bound.
func FuzzTranscript(f *testing.F) {
	f.Add(strings.Join([]string{role, text("a"), text("a"), finish("stop"), usage(9, 2)}, "\n"))
	f.Add(`{"choices":[null,{"delta":null}],"usage":{"completion_tokens":1e300}}`)
	f.Add("{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\nnull\n[]\n\"\"")
	f.Fuzz(func(t *testing.T, lines string) {
		tr := transcript{max: 1000}
		for line := range strings.SplitSeq(lines, "\n") {
			n, broken := tr.add([]byte(line), nil)
			if n < 0 {
				t.Fatalf("%d tokens", n)
			}
			if broken != nil {
				break
			}
			if len(tr.text)+len(tr.reasoning) > 1000 {
				t.Fatal("more text than allowed")
			}
		}
		a := tr.answer()
		if !utf8.ValidString(a.text) || !utf8.ValidString(a.reasoning) || a.streamed < 0 {
			t.Errorf("answer %+v", a)
		}
	})
}
