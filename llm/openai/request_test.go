package openai

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/evoalloc/evoalloc/llm"
)

// sentNames are the fields of a request that has all.
var sentNames = []string{continuous, "system", "max_tokens", "seed", "stop", "temperature", "top_p", "stream",
	"stream_options",
	"top_k"}

// Refusals of fields in the words and forms of endpoints, and which fields they mean.
func TestRefusedFields(t *testing.T) {
	for _, tt := range []struct {
		endpoint string
		status   int
		body     string
		want     string // names, separated by blanks
	}{
		{"OpenAI, reasoning models", 400,
			`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, "max_tokens"},
		{"OpenAI, a value", 400,
			`{"error":{"message":"Unsupported value: 'temperature' does not support 0.4 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`, "temperature"},
		{"OpenAI, vLLM's extension", 400,
			`{"error":{"message":"Unknown parameter: 'stream_options.continuous_usage_stats'.","param":"stream_options.continuous_usage_stats"}}`, continuous},
		{"OpenAI, a role", 400,
			`{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role"}}`, "system"},
		{"OpenAI, of a code alone", 400,
			`{"error":{"message":"Your organization must be verified to stream this model.","param":"stream","code":"unsupported_value"}}`, "stream"},
		{"OpenAI, of a code and a role", 400,
			`{"error":{"message":"Not for this model.","param":"messages[0].role","code":"unsupported_value"}}`, "system"},
		{"OpenAI, within a field", 400,
			`{"error":{"message":"No.","param":"stream_options.include_usage","code":"unknown_parameter"}}`, "stream_options"},
		{"Azure", 400,
			`{"error":{"message":"Unrecognized request argument supplied: seed","type":"invalid_request_error","param":null}}`, "seed"},
		{"Anthropic, both", 400,
			"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"`temperature` and `top_p` cannot both be specified for this model. Please use only one.\"}}", "top_p"},
		{"Anthropic, one", 400, "{\"error\":{\"message\":\"`temperature` is deprecated for this model.\"}}", "temperature"},
		{"Mistral", 422,
			`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"},{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}}`, "seed stream_options"},
		{"FastAPI, within a field", 422,
			`{"detail":[{"loc":["body","stream_options","continuous_usage_stats"],"msg":"extra fields not permitted"}]}`, continuous},
		{"Google", 400,
			`[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"top_k\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`, "top_k"},
		{"Groq", 400, `{"error":{"message":"property 'seed' is unsupported"}}`, "seed"},
		{"xAI", 400, `{"code":"Client specified an invalid argument","error":"Argument not supported on this model: stop"}`,
			"stop"},
		{"a JSON schema", 400, `{"detail":"Additional properties are not allowed ('stop', 'top_k' were unexpected)"}`,
			"stop top_k"},
		{"Moonshot", 400, `{"error":{"message":"invalid temperature: only 1 is allowed for this model"}}`, "temperature"},
		{"OpenRouter, in its provider's words", 400,
			`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Unsupported parameter: 'seed'\"}}"}}}`, "seed"},
		{"Gemma's template, at vLLM", 400, `{"object":"error","message":"System role not supported","code":400}`, "system"},
		{"Mistral's template", 400, `{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}`,
			"system"},
		{"plain text", 400, "Extra parameters ['stream_options'] are not allowed", "stream_options"},
		{"no streams", 400, `{"error":{"message":"Streaming is not supported by this model"}}`, "stream"},
		{"no streams, FastAPI", 422, `{"detail":[{"loc":["body","stream"],"msg":"must be false, unsupported"}]}`, "stream"},
		{"a seed of fewer bits, whose value nobody chose", 400, `{"error":{"message":"seed must be at most 2147483647"}}`,
			"seed"},

		{"a value out of range", 400, `{"error":{"message":"temperature must be at most 2","param":"temperature"}}`, ""},
		{"a cap that is too large", 400,
			`{"error":{"message":"max_tokens is too large: 16000. This model supports at most 4096 completion tokens","param":"max_tokens","code":"invalid_value"}}`, ""},
		{"DeepSeek's range", 400,
			`{"error":{"message":"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"}}`, ""},
		{"a field that was not sent", 400, `{"error":{"message":"Unsupported parameter: 'logprobs'","param":"logprobs"}}`,
			""},
		{"nothing in particular", 400, "Bad Request", ""},
		{"an upstream is no stream", 400, "unsupported upstream", ""},
	} {
		got := strings.Join(readRefusal(tt.status, &http.Response{}, []byte(tt.body)).named(sentNames), " ")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.endpoint, got, tt.want)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		reason string
		status int
		body   string
		want   string
		text   string
	}{
		{"OpenAI, by its code", 400, `{"error":{"message":"too many","code":"context_length_exceeded"}}`,
			llm.KindContextLength,
			"too many"},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 32768 tokens.","code":400}`,
			llm.KindContextLength, "This model's maximum context length is 32768 tokens."},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"x","type":"exceed_context_size_error"}}`, llm.KindContextLength,
			"x"},
		{"SGLang", 400, `{"message":"The input is longer than the model's context length (32768 tokens)."}`,
			llm.KindContextLength, "The input is longer than the model's context length (32768 tokens)."},
		{"TGI", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096\"}",
			llm.KindContextLength, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096"},
		{"Anthropic", 400, `{"error":{"message":"prompt is too long: 210000 tokens"}}`, llm.KindContextLength,
			"prompt is too long: 210000 tokens"},
		{"too large for a proxy", 413, "<html>413 Request Entity Too Large</html>", llm.KindContextLength,
			"(HTML) 413 Request Entity Too Large"},
		{"Azure's filter of prompts", 400, `{"error":{"code":"content_filter","message":"The response was filtered"}}`,
			llm.KindNoAnswer, "The response was filtered"},
		{"an unknown model under 400", 400, `{"error":{"message":"no","code":"model_not_found"}}`, llm.KindNotFound, "no"},
		{"a wrong path", 405, `{"detail":"Method Not Allowed"}`, llm.KindNotFound, "Method Not Allowed"},
		{"payment due", 402, `{"error":{"message":"Insufficient credits","code":402}}`, llm.KindQuota, "Insufficient credits"},
		{"tokens per minute", 429, `{"error":{"message":"on tokens per min","code":"rate_limit_exceeded"}}`,
			llm.KindRateLimit,
			"on tokens per min"},
		{"a quota that waiting does not bring back", 429, `{"error":{"message":"x","code":"insufficient_quota"}}`,
			llm.KindQuota,
			"x"},
		{"a quota of a day", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-day"}}`, llm.KindQuota,
			"Rate limit exceeded: free-models-per-day"},
		{"a quota that is back in seconds, as Google words it", 429,
			`{"error":{"message":"You exceeded your current quota. Please retry in 37.2s."}}`, llm.KindRateLimit,
			"You exceeded your current quota. Please retry in 37.2s."},
		{"a window of a day that moves on, at Groq", 429,
			`{"error":{"message":"Limit on tokens per day (TPD). Please try again in 7m12s."}}`, llm.KindQuota,
			"Limit on tokens per day (TPD). Please try again in 7m12s."},
		{"Google's limit of the day, whose delay is not the reset", 429, googleQuota("PerDay", "40s"), llm.KindQuota, "x"},
		{"Google's limit of the minute", 429, googleQuota("PerMinute", "40s"), llm.KindRateLimit, "x"},
		{"a prompt that a balance does not hold", 402, `{"error":{"message":"needs more tokens"}}`, llm.KindAuth, "needs more tokens"},
		{"moved", 308, ``, llm.KindNotFound, ""},
		{"none of the forms", 400, `{"status":"bad"}`, llm.KindBadRequest, `{"status":"bad"}`},
		{"a code within a success", 200, `{"error":{"message":"m","code":502}}`, llm.KindServer, "m"},
		{"several words", 400, `{"error":{"message":"a","detail":"b"}}`, llm.KindBadRequest, "a; b"},
	} {
		r := readRefusal(tt.status, &http.Response{}, []byte(tt.body))
		if got := kindOf(r); got != tt.want || r.Message != tt.text {
			t.Errorf("%s: %q and %q, want %q and %q", tt.reason, got, r.Message, tt.want, tt.text)
		}
	}
}

// googleQuota is Google's refusal for a quota of that length.
func googleQuota(length, delay string) string {
	return `[{"error":{"message":"x","details":[{"violations":[{"quotaId":"Requests` + length + `PerModel"}]},` +
		`{"retryDelay":"` + delay + `"}]}}]`
}

func TestWait(t *testing.T) {
	now := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	h := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	const most = 30 * 24 * time.Hour
	for _, tt := range []struct {
		reason     string
		header     http.Header
		body, text string
		want       time.Duration
	}{
		{"seconds", h("Retry-After", "7"), "", "", 7 * time.Second},
		{"a fraction, as some send", h("Retry-After", "0.5"), "", "", 500 * time.Millisecond},
		{"milliseconds come first", h("Retry-After-Ms", "250", "Retry-After", "9"), "", "", 250 * time.Millisecond},
		{"a date", h("Retry-After", "Sun, 01 Jun 2025 12:01:00 GMT"), "", "", time.Minute},
		{"a date that has passed", h("Retry-After", "Sun, 01 Jun 2025 11:00:00 GMT"), "", "", 0},
		{"nothing", h(), "", "", 0},
		{"beyond all bounds", h("Retry-After", "1e300"), "", "", most},
		{"in the text", h(), "", "Please try again in 7m12.5s.", 7*time.Minute + 12500*time.Millisecond},
		{"in the text, in seconds", h(), "", "retry after 20 seconds", 20 * time.Second},
		{"the time of the end, in milliseconds, in the body", h(),
			`{"error":{"metadata":{"headers":{"X-RateLimit-Reset":"1748782800000"}}}}`, "", time.Hour},
		{"the time of the end, in seconds", h("X-RateLimit-Reset", "1748782800"), "", "", time.Hour},
		{"Google's delay", h(), `{"error":{"details":[{"x":1},{"retryDelay":"40.5s"}]}}`, "", 40500 * time.Millisecond},
		{"the seconds to the end", h("X-RateLimit-Reset", "60"), "", "", time.Minute},
	} {
		if got := wait(tt.header, gjson.Parse(tt.body), tt.text, now); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// Where an endpoint has no system role, its text stands before the user's, and nothing is lost.
func TestMergedSystem(t *testing.T) {
	c := &Client{cfg: Config{Model: llm.Model{Name: "m", MaxTokens: 1}}, without: map[string]bool{"system": true}}
	for _, tt := range []struct {
		reason string
		roles  []string
		want   []any
	}{
		{"before the user", []string{"system", "user", "assistant", "user"}, []any{"user", "0\n\n1", "assistant", "2",
			"user", "3"}},
		{"in the middle", []string{"user", "assistant", "system", "user"}, []any{"user", "0", "assistant", "1", "user",
			"2\n\n3"}},
		{"alone", []string{"system"}, []any{"user", "0"}},
	} {
		var req llm.Request
		for i, role := range tt.roles {
			req.Messages = append(req.Messages, llm.Message{Role: role, Content: string(rune('0' + i))})
		}
		p, err := c.params(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := p.MarshalJSON()
		var got []any
		for _, m := range gjson.GetBytes(body, "messages").Array() {
			got = append(got, m.Get("role").Str, m.Get("content").Str)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}
