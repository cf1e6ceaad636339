package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A Fault is the name of one way for a request to go wrong: one of [Faults]. The zero
// value is a correct answer.
type Fault string

const none Fault = ""

// Faults that refuse the request, at once.
const (
	rateLimit       Fault = "429"                   // too many requests, and no word of when to come back
	rateLimitAfter  Fault = "429 retry-after"       // with Retry-After in seconds
	rateLimitDate   Fault = "429 retry-after date"  // with Retry-After as a date
	noQuota         Fault = "429 no quota"          // insufficient_quota: trying again does not help
	badKey          Fault = "401"                   // the key is wrong
	forbidden       Fault = "403"                   // the key may not do this
	noModel         Fault = "404"                   // no such model
	badRequest      Fault = "400"                   // a parameter is wrong
	tooLong         Fault = "400 context length"    // the prompt does not fit
	serverError     Fault = "500"                   // an error object in JSON
	serverErrorText Fault = "500 error text"        // {"error": "text"}
	serverErrorHTML Fault = "500 html"              // a proxy's page
	overloaded      Fault = "503"                   // an error object in JSON
	overloadedText  Fault = "503 text"              // plain text
	timeout408      Fault = "408"                   // the server gave up first
	noCredit        Fault = "402"                   // no money left
	dayQuota        Fault = "429 day"               // OpenRouter's quota of a day, with the time of its end in the body
	errorIn200      Fault = "200 with error object" // a failure dressed as a success
)

// Faults that refuse a field, in the words and the form of some endpoint. A request without the field is answered.
const (
	noStreamOptions   Fault = "400 stream_options"         // the field, which asks for usage in a stream
	noContinuousUsage Fault = "400 continuous_usage_stats" // vLLM's extension within that field
	noStreams         Fault = "400 stream"                 // streaming at all
	noTools           Fault = "400 tools"                  // tools, in Ollama's words
	noMaxTokens       Fault = "400 max_tokens"             // OpenAI's for its reasoning models: need max_completion_tokens
	noTemperature     Fault = "400 temperature"            // likewise
	noTopP            Fault = "400 top_p"                  // Anthropic's, if there is a temperature too
	noSeed            Fault = "422 seed"                   // Mistral's
	noStop            Fault = "400 stop"                   // Google's, in a list
	noSystem          Fault = "400 system"                 // Gemma's template, at vLLM
)

// Faults of an answer that arrives, after the latency.
const (
	malformed     Fault = "malformed JSON"      // the body stops in the middle, without a transport error
	wrongTyped    Fault = "wrong-typed JSON"    // choices is not a list
	htmlPage      Fault = "html 200"            // a login page, say
	noChoices     Fault = "no choices"          // an empty list of them
	nullContent   Fault = "null content"        // a message without text
	emptyLength   Fault = "empty length"        // every token went into thinking that is not shown
	length        Fault = "length"              // the text is cut at MaxTokens: usable, but cut
	noUsage       Fault = "no usage"            // the answer is good, but not counted
	negativeUsage Fault = "negative usage"      // the counts are below 0
	cachedAbove   Fault = "cached above prompt" // more tokens cached than there are
	wrongUsage    Fault = "wrong-typed usage"   // the counts are words
	endEarly      Fault = "no end"              // half an answer, and the end, without a transport error
	filtered      Fault = "content filter"      // the text was removed
	declined      Fault = "refusal"             // the model says in a field of its own that it will not answer
	unaskedCall   Fault = "call without tools"  // a call of a tool, and no text
	asParts       Fault = "content parts"       // content is a list of parts; the answer is whole
	noFinish      Fault = "no finish reason"    // nor [DONE] is missing; the answer is whole
	inReasoning   Fault = "all in reasoning"    // the answer is whole, and the content is empty
	otherModel    Fault = "another model"       // answers
	noCallIDs     Fault = "no call ids"         // calls of tools come without IDs
	// half an answer, and an error object; not streamed: as "200 with error object"
	errorInStream Fault = "error in stream"
	errorInChoice Fault = "error in choice" // OpenRouter's
	errorField    Fault = "error field"     // llama.cpp's: a field of the event stream in the place of data
	errorLine     Fault = "error line"      // a line of JSON between the events
)

// Faults of the connection.
const (
	hang      Fault = "hang"               // nothing comes until the client leaves
	hangFirst Fault = "hang first token"   // headers come, after the latency, and then nothing
	hangBody  Fault = "hang body"          // half an answer comes, after the latency, and then nothing
	drip      Fault = "drip"               // the answer comes one token each Config.Drip
	cut       Fault = "cut body"           // half an answer comes, after the latency, and then the connection closes
	reset     Fault = "reset"              // the connection is reset after the latency
	resetBody Fault = "reset body"         // half an answer comes, after the latency, and then a reset
	closes    Fault = "close after stream" // llama.cpp's: the connection ends when the next request comes on it
)

// Faults returns all faults: those that refuse every request, those that refuse a field, those of answers and those of
// the connection.
func Faults() []Fault {
	return []Fault{
		rateLimit, rateLimitAfter, rateLimitDate, noQuota, dayQuota, noCredit, badKey, forbidden, noModel, badRequest,
		tooLong, serverError, serverErrorText, serverErrorHTML, overloaded, overloadedText, timeout408, errorIn200,
		noStreamOptions, noContinuousUsage, noStreams, noTools, noMaxTokens, noTemperature, noTopP, noSeed, noStop, noSystem,
		malformed, wrongTyped, htmlPage, noChoices, nullContent, emptyLength, length, noUsage, negativeUsage, cachedAbove,
		wrongUsage, endEarly, noCallIDs, filtered, declined, unaskedCall, asParts, noFinish, inReasoning, otherModel,
		errorInStream, errorInChoice, errorField, errorLine,
		hang, hangFirst, hangBody, drip, cut, reset, resetBody, closes,
	}
}

// of returns the fault for req: none if f refuses a field that req does not have.
func (f Fault) of(req Request) Fault {
	has := func(name string) bool { _, ok := req.fields[name]; return ok }
	applies := true
	switch f {
	case noContinuousUsage:
		applies = req.StreamOptions.ContinuousUsage
	case noStreams, closes:
		applies = req.Stream
	case noTools, noCallIDs:
		applies = len(req.Tools) > 0
	case unaskedCall:
		applies = len(req.Tools) == 0
	case noTopP:
		applies = has("top_p") && has("temperature")
	case noSystem:
		applies = slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return m.Role == llm.System })
	case noStreamOptions, noMaxTokens, noTemperature, noSeed, noStop:
		applies = has(strings.Fields(string(f))[1])
	}
	if !applies {
		return none
	}
	return f
}

// usable reports whether an answer corrupted by f is still an answer.
func (f Fault) usable() bool {
	switch f {
	case none, length, noUsage, negativeUsage, cachedAbove, wrongUsage, noCallIDs, asParts, noFinish, inReasoning,
		otherModel, drip, closes:
		return true
	}
	return false
}

// refuse answers if f is a fault that refuses a request, and reports whether it is.
func (f Fault) refuse(w http.ResponseWriter, cfg Config) bool {
	switch f {
	case rateLimit, rateLimitAfter, rateLimitDate:
		f.setRetryAfter(w.Header(), cfg.RetryAfter)
		writeError(w, 429, "rate_limit_error", "Rate limit reached for requests")
	case noQuota:
		writeError(w, 429, "insufficient_quota", "You exceeded your current quota, please check your plan")
	case dayQuota:
		reset := time.Now().Add(11 * time.Hour).UnixMilli()
		writeBody(w, 429, "application/json", fmt.Sprintf(`{"error": {"message": "Rate limit exceeded: free-models-per-day", `+
			`"code": 429, "metadata": {"headers": {"X-RateLimit-Reset": "%d"}}}}`, reset))
	case noCredit:
		writeError(w, 402, "402", "Insufficient credits")
	case badKey:
		writeError(w, 401, "invalid_api_key", "Incorrect API key provided")
	case forbidden:
		writeError(w, 403, "permission_denied", "This key may not use this model")
	case noModel:
		writeError(w, 404, "model_not_found", "The model does not exist")
	case badRequest:
		writeError(w, 400, "invalid_request_error", "temperature must be at most 2")
	case tooLong:
		writeError(w, 400, "context_length_exceeded", "This model's maximum context length is 32768 tokens")
	case serverError:
		writeError(w, 500, "internal_error", "CUDA error: out of memory")
	case serverErrorText:
		writeBody(w, 500, "application/json", `{"error": "the runner has stopped"}`)
	case serverErrorHTML:
		writeBody(w, 500, "text/html",
			"<html><head><title>500 Internal Server Error</title></head><body><h1>nginx</h1></body></html>")
	case overloaded:
		writeError(w, 503, "overloaded", "The engine is overloaded")
	case overloadedText:
		writeBody(w, 503, "text/plain", "no healthy upstream")
	case timeout408:
		writeError(w, 408, "timeout", "The request timed out")
	case errorIn200:
		writeBody(w, 200, "application/json", errorBody)
	default:
		return f.refuseField(w)
	}
	return true
}

// refuseField answers if f is a fault that refuses a field of a request, and reports whether it is.
func (f Fault) refuseField(w http.ResponseWriter) bool {
	switch f {
	case noStreamOptions:
		writeError(w, 400, "invalid_request_error", "Extra parameters ['stream_options'] are not allowed")
	case noContinuousUsage:
		writeError(w, 400, "unknown_parameter", "Unknown parameter: 'stream_options.continuous_usage_stats'.")
	case noStreams:
		writeError(w, 400, "unsupported_value", "Streaming is not supported by this model")
	case noTools:
		writeError(w, 400, "invalid_request_error", "registry.ollama.ai/library/model does not support tools")
	case noMaxTokens:
		writeError(w, 400, "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. "+
			"Use 'max_completion_tokens' instead.")
	case noTemperature:
		writeError(w, 400, "unsupported_value", "Unsupported value: 'temperature' does not support 0.4 with this model. "+
			"Only the default (1) value is supported.")
	case noTopP:
		writeError(w, 400, "invalid_request_error", "`temperature` and `top_p` cannot both be specified for this model.")
	case noSeed:
		writeBody(w, 422, "application/json", `{"object": "error", "message": {"detail": [{"type": "extra_forbidden", `+
			`"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, "code": null}`)
	case noStop:
		writeBody(w, 400, "application/json", `[{"error": {"code": 400, "status": "INVALID_ARGUMENT", `+
			`"message": "Invalid JSON payload received. Unknown name \"stop\": Cannot find field."}}]`)
	case noSystem:
		writeBody(w, 400, "application/json", `{"object": "error", "message": "System role not supported", "code": 400}`)
	default:
		return false
	}
	return true
}

func (f Fault) setRetryAfter(h http.Header, d time.Duration) {
	switch seconds := (d + time.Second - 1) / time.Second; f {
	case rateLimitAfter:
		h.Set("Retry-After", strconv.Itoa(int(seconds)))
	case rateLimitDate:
		now := time.Now().UTC()
		h.Set("Date", now.Format(http.TimeFormat))
		h.Set("Retry-After", now.Add(d).Format(http.TimeFormat))
	}
}

// writeError sends an error object in the protocol's form.
func writeError(w http.ResponseWriter, status int, code, message string) {
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": message, "type": code, "code": code, "param": nil,
	}})
	if err != nil {
		panic(fmt.Sprintf("llmtest: encoding an error: %v", err)) // strings always encode
	}
	writeBody(w, status, "application/json", string(body))
}

func writeBody(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write([]byte(body))
}
