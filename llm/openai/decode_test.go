package openai

import (
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		reason, body string
		want         answer
		why          string // "" if the answer is usable
	}{
		{"plain", `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`, answer{text: "hi", finish: "stop"},
			""},
		{"no finish reason at all", `{"choices":[{"message":{"content":"hi"},"finish_reason":null}]}`, answer{text: "hi"},
			""},
		{"a finish reason of another type", `{"choices":[{"message":{"content":"hi"},"finish_reason":1}]}`,
			answer{text: "hi"}, ""},
		{"thinking apart, vLLM's name",
			`{"choices":[{"message":{"content":"hi","reasoning_content":"hm"},"finish_reason":"stop"}]}`,
			answer{text: "hi", reasoning: "hm", finish: "stop"}, ""},
		{"thinking apart, OpenRouter's name",
			`{"choices":[{"message":{"content":"hi","reasoning":"hm","reasoning_content":null},"finish_reason":"stop"}]}`,
			answer{text: "hi", reasoning: "hm", finish: "stop"}, ""},
		{"thinking of a form not known",
			`{"choices":[{"message":{"content":"hi","reasoning":{"a":1}},"finish_reason":"stop"}]}`,
			answer{text: "hi", finish: "stop"}, ""},
		{"an empty answer that the model ended", `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`,
			answer{finish: "stop"}, ""},
		{"cut, but not empty", `{"choices":[{"message":{"content":"h"},"finish_reason":"length"}]}`,
			answer{text: "h", finish: "length"}, ""},
		{"an error beside choices does not unmake them",
			`{"error":null,"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`,
			answer{text: "hi", finish: "stop"}, ""},
		{"all thinking", `{"choices":[{"message":{"content":null,"reasoning_content":"hm"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":9}}`,
			answer{reasoning: "hm", finish: "length", usage: &llm.Usage{PromptTokens: 3, CompletionTokens: 9}},
			`no content, finish reason "length"`},
		{"blanks only, cut", `{"choices":[{"message":{"content":" \n"},"finish_reason":"length"}]}`, answer{finish: "length"},
			`empty content`},
		{"filtered", `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`,
			answer{finish: "content_filter"}, `finish reason "content_filter"`},
		{"a choice that is null", `{"choices":[null]}`, answer{}, "no content"},
		{"choices that are null", `{"choices":null}`, answer{}, "no choices"},
		{"null", `null`, answer{}, "no choices"},
		{"a list", `[]`, answer{}, "wrong-typed JSON, the body is a array"},
		{"content of another type, with usage",
			`{"choices":[{"message":{"content":7}}],"usage":{"prompt_tokens":3,"completion_tokens":9}}`,
			answer{usage: &llm.Usage{PromptTokens: 3, CompletionTokens: 9}},
			"wrong-typed JSON, choices.message.content is a number"},
		{"more than one value", `{"choices":[{"message":{"content":"hi"}}]} {}`, answer{}, "malformed JSON"},
		{"nothing", " \n", answer{}, "an empty body"},
		{"a page", "\n<!DOCTYPE html><p>Bad", answer{}, "an HTML page"},
		{"an event stream nobody asked for", "data: {}\n\n", answer{}, "malformed JSON"},
	} {
		got, broken := decode([]byte(tt.body), false)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
		if (broken == nil) != (tt.why == "") || broken != nil && !strings.Contains(broken.why, tt.why) {
			t.Errorf("%s: broken %+v, want %q", tt.reason, broken, tt.why)
		}
	}
}

func TestParseUsage(t *testing.T) {
	u := func(prompt, cached, completion int) *llm.Usage {
		return &llm.Usage{PromptTokens: prompt, CachedTokens: cached, CompletionTokens: completion}
	}
	for _, tt := range []struct {
		reason, raw string
		want        *llm.Usage
	}{
		{"full", `{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":8}}`,
			u(9, 8, 4)},
		{"no details", `{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":null}`, u(9, 0, 4)},
		{"a null count of cached tokens",
			`{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":null}}`, u(9, 0, 4)},
		{"more cached than there are",
			`{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":10}}`, u(9, 9, 4)},
		{"fewer cached than none", `{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":-1}}`,
			u(9, 0, 4)},
		{"cached in words", `{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":"all"}}`,
			u(9, 0, 4)},
		{"whole numbers written as floats", `{"prompt_tokens":9.0,"completion_tokens":4e0}`, u(9, 0, 4)},
		{"nothing generated", `{"prompt_tokens":9,"completion_tokens":0}`, u(9, 0, 0)},
		{"absent", ``, nil},
		{"null", `null`, nil},
		{"empty", `{}`, nil},
		{"half", `{"prompt_tokens":9}`, nil},
		{"zeros from a server that does not count", `{"prompt_tokens":0,"completion_tokens":0}`, nil},
		{"a negative prompt", `{"prompt_tokens":-9,"completion_tokens":4}`, nil},
		{"a negative completion", `{"prompt_tokens":9,"completion_tokens":-4}`, nil},
		{"a fraction", `{"prompt_tokens":9.5,"completion_tokens":4}`, nil},
		{"more than can be", `{"prompt_tokens":9,"completion_tokens":1e18}`, nil},
		{"more than a float holds", `{"prompt_tokens":9,"completion_tokens":1e999}`, nil},
		{"words", `{"prompt_tokens":"many","completion_tokens":4}`, nil},
		{"another type", `[9, 4]`, nil},
	} {
		if diff := cmp.Diff(tt.want, parseUsage([]byte(tt.raw))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

func TestKindOf(t *testing.T) {
	for _, tt := range []struct {
		reason string
		status int
		body   string
		want   string
	}{
		{"OpenAI, by its code", 400, `{"error":{"message":"too many","code":"context_length_exceeded"}}`,
			llm.KindContextLength},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 32768 tokens. However, you requested 40000","type":"BadRequestError","code":400}`, llm.KindContextLength},
		{"vLLM, newer", 400, `{"error":{"message":"The decoder prompt (length 40000) is longer than the maximum model length of 32768.","code":400}}`, llm.KindContextLength},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, llm.KindContextLength},
		{"SGLang", 400, `{"message":"The input (40000 tokens) is longer than the model's context length (32768 tokens)."}`,
			llm.KindContextLength},
		{"TGI", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096\"}",
			llm.KindContextLength},
		{"Anthropic", 400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
			llm.KindContextLength},
		{"Gemini", 400, `{"error":{"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."}}`, llm.KindContextLength},
		{"too large for a proxy", 413, "<html>413 Request Entity Too Large</html>", llm.KindContextLength},
		{"a wrong parameter", 400, `{"error":{"message":"top_k must be positive"}}`, llm.KindBadRequest},
		{"FastAPI's validation", 422, `{"detail":[{"msg":"field required"}]}`, llm.KindBadRequest},
		{"an unknown model under 400", 400, `{"error":{"message":"no","code":"model_not_found"}}`, llm.KindNotFound},
		{"a wrong path", 405, `{"detail":"Method Not Allowed"}`, llm.KindNotFound},
		{"payment due", 402, `{"error":{"message":"Insufficient credits","code":402}}`, llm.KindAuth},
		{"tokens per minute, not the window", 429,
			`{"error":{"message":"Request too large on tokens per min","code":"rate_limit_exceeded"}}`, llm.KindRateLimit},
		{"a quota that waiting does not bring back", 429,
			`{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.KindAuth},
		{"busy", 529, ``, llm.KindServer},
		{"too early", 425, ``, llm.KindServer},
		{"moved", 308, ``, llm.KindNotFound},
	} {
		text, code := parseError([]byte(tt.body), asIs)
		if got := kindOf(tt.status, code, text); got != tt.want {
			t.Errorf("%s: %q, want %q (code %q, text %q)", tt.reason, got, tt.want, code, text)
		}
	}
}

func TestParseErrorText(t *testing.T) {
	for _, tt := range []struct{ reason, body, text, code string }{
		{"an object", `{"error":{"message":"m","code":"c"}}`, "m", "c"},
		{"a number for a code", `{"error":{"message":"m","code":502,"type":"t"}}`, "m", "502"},
		{"a type for a code", `{"error":{"message":"m","type":"t","code":null}}`, "m", "t"},
		{"text", `{"error":"m"}`, "m", ""},
		{"detail", `{"detail":"m"}`, "m", ""},
		{"none of them", `{"status":"bad"}`, `{"status":"bad"}`, ""},
		{"plain", "no healthy\nupstream", "no healthy upstream", ""},
		{"a page with a style", "<html><style>p{}</style><title>502</title><p>Bad</p></html>", "502 Bad", ""},
		{"a tag that does not end", "<html", "", ""},
	} {
		if text, code := parseError([]byte(tt.body), asIs); text != tt.text || strings.Trim(code, "nul") != tt.code {
			t.Errorf("%s: text %q, code %q; want %q, %q", tt.reason, text, code, tt.text, tt.code)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		reason, value string
		date          string // the server's clock
		want          time.Duration
	}{
		{"seconds", "7", "", 7 * time.Second},
		{"a fraction, as some send", "0.5", "", 500 * time.Millisecond},
		{"a date", "Sun, 01 Jun 2025 12:01:00 GMT", "", time.Minute},
		{"a date by the server's clock, which is an hour ahead", "Sun, 01 Jun 2025 13:01:00 GMT",
			"Sun, 01 Jun 2025 13:00:00 GMT", time.Minute},
		{"a date that has passed", "Sun, 01 Jun 2025 11:00:00 GMT", "", 0},
		{"nothing", "", "", 0},
		{"below zero", "-5", "", 0},
		{"no number", "NaN", "", 0},
		{"beyond all bounds", "1e300", "", maxRetryAfter},
		{"infinite", "Inf", "", maxRetryAfter},
		{"words", "soon", "", 0},
	} {
		h := http.Header{"Retry-After": {tt.value}, "Date": {tt.date}}
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, now); got != 250*time.Millisecond {
		t.Errorf("milliseconds come first: %v", got)
	}
}

// asIs strikes nothing out.
func asIs(s string) string { return s }

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"message":{"content":"hi","reasoning":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"error":{"error":{"error":"deep"}}}`, `<p><script>`, `{"error":"x"}`, "\xff\x00", `{"detail":[{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ans, broken := decode(body, len(body)%2 > 0)
		if broken != nil && (ans.text != "" || broken.why == "") {
			t.Errorf("broken for %q, with text %q", broken.why, ans.text)
		}
		if u := ans.usage; u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens < 0 ||
			u.CachedTokens > u.PromptTokens) {
			t.Errorf("usage %+v", *u)
		}
		text, _ := parseError(body, asIs)
		for _, s := range []string{excerpt(body, asIs), printable.Line(text)} {
			if strings.ContainsAny(s, "\n\r\x1b") || !utf8.ValidString(s) {
				t.Errorf("not fit for a message: %q", s)
			}
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("7")
	f.Add("Sun, 01 Jun 2025 12:01:00 GMT")
	f.Add("-1e400")
	f.Fuzz(func(t *testing.T, v string) {
		d := retryAfter(http.Header{"Retry-After": {v}}, time.Now())
		if d < 0 || d > maxRetryAfter {
			t.Errorf("%q gives %v", v, d)
		}
	})
}

func TestNetworkTimeoutIsNoKind(t *testing.T) {
	if kind, _ := network(fmt.Errorf("wrapped: %w", timeoutError{})); kind != "" {
		t.Errorf("kind %q", kind)
	}
	if d := bounded(math.NaN()); d != 0 {
		t.Errorf("NaN gives %v", d)
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "timed out" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return false }

// Choices that nobody asked for take no memory, though an empty one is a short text.
func TestManyChoices(t *testing.T) {
	const first = `{"choices":[{"delta":{"content":"a"},"message":{"content":"a"},"finish_reason":"stop"}`
	body := []byte(first + strings.Repeat(",{}", 1<<20) + `],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	odd := []byte(strings.Replace(string(body), "choices", "choice\u0073", 1)) // which encoding/json reads
	for _, tt := range []struct {
		reason string
		read   func() (text string, usage *llm.Usage)
	}{
		{"whole", func() (string, *llm.Usage) {
			a, _ := decode(body, false)
			return a.text, a.usage
		}},
		{"a chunk", func() (string, *llm.Usage) {
			tr := transcript{max: defaultMaxBody}
			tr.add(body, nil)
			a := tr.answer()
			return a.text, a.usage
		}},
		{"a chunk of another form", func() (string, *llm.Usage) {
			tr := transcript{max: defaultMaxBody}
			tr.add(odd, nil)
			a := tr.answer()
			return a.text, a.usage
		}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, usage := tt.read()
		runtime.ReadMemStats(&after)
		if text != "a" || usage == nil || usage.CompletionTokens != 1 {
			t.Errorf("%s: %q, %+v", tt.reason, text, usage)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) / uint64(len(body)); took > 12 { // of buffers, which grow by doubling
			t.Errorf("%s: %d bytes were allocated for each of the body", tt.reason, took)
		}
	}
}
