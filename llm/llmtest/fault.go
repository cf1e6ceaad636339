package llmtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// A Fault is one way for a request to go wrong, printed as its name. The zero value is None.
type Fault string

// None answers as one hopes.
const None Fault = ""

// Faults that refuse the request, at once.
const (
	RateLimit       Fault = "429"                   // too many requests, and no word of when to come back
	RateLimitAfter  Fault = "429 retry-after"       // with Retry-After in seconds
	RateLimitDate   Fault = "429 retry-after date"  // with Retry-After as a date
	NoQuota         Fault = "429 no quota"          // insufficient_quota: trying again does not help
	BadKey          Fault = "401"                   // the key is wrong
	Forbidden       Fault = "403"                   // the key may not do this
	NoModel         Fault = "404"                   // no such model
	BadRequest      Fault = "400"                   // a parameter is wrong
	TooLong         Fault = "400 context length"    // the prompt does not fit
	ServerError     Fault = "500"                   // an error object in JSON
	ServerErrorText Fault = "500 error text"        // {"error": "text"}
	ServerErrorHTML Fault = "500 html"              // a proxy's page
	Overloaded      Fault = "503"                   // an error object in JSON
	OverloadedText  Fault = "503 text"              // plain text
	Timeout408      Fault = "408"                   // the server gave up first
	ErrorIn200      Fault = "200 with error object" // a failure dressed as a success
)

// Faults that refuse what some servers do not know, and are None for a request without it.
const (
	NoStreamOptions   Fault = "400 stream_options"         // the field, which asks for usage in a stream
	NoContinuousUsage Fault = "400 continuous_usage_stats" // vLLM's extension within that field
	NoStreams         Fault = "400 stream"                 // streaming at all
)

// Faults of an answer that arrives, after the latency.
const (
	Malformed     Fault = "malformed JSON"      // the body stops in the middle, without a transport error
	WrongTyped    Fault = "wrong-typed JSON"    // choices is not a list
	HTMLPage      Fault = "html 200"            // a login page, say
	NoChoices     Fault = "no choices"          // an empty list of them
	NullContent   Fault = "null content"        // a message without text
	EmptyLength   Fault = "empty, length"       // every token went into thinking that is not shown
	Length        Fault = "length"              // the text is cut at MaxTokens: usable, but cut
	NoUsage       Fault = "no usage"            // the answer is good, but not counted
	NegativeUsage Fault = "negative usage"      // the counts are below 0
	CachedAbove   Fault = "cached above prompt" // more tokens cached than there are
	WrongUsage    Fault = "wrong-typed usage"   // the counts are words
	EndEarly      Fault = "no end"              // half an answer, and the end, without a transport error
	Duplicate     Fault = "duplicate chunks"    // every chunk of a stream comes twice; otherwise as None
	ErrorInStream Fault = "error in stream"     // half an answer, and an error object; not streamed: as ErrorIn200
)

// Faults of the connection.
const (
	Hang      Fault = "hang"             // nothing comes until the client leaves
	HangFirst Fault = "hang first token" // headers come, after the latency, and then nothing
	HangBody  Fault = "hang body"        // half an answer comes, after the latency, and then nothing
	Drip      Fault = "drip"             // the answer comes one token each Config.Drip
	Cut       Fault = "cut body"         // half an answer comes, after the latency, and then the connection closes
	Reset     Fault = "reset"            // the connection is reset after the latency
	ResetBody Fault = "reset body"       // half an answer comes, after the latency, and then a reset
)

// Faults returns all of them but None, in the order above.
func Faults() []Fault {
	return []Fault{
		RateLimit, RateLimitAfter, RateLimitDate, NoQuota, BadKey, Forbidden, NoModel, BadRequest, TooLong,
		ServerError, ServerErrorText, ServerErrorHTML, Overloaded, OverloadedText, Timeout408, ErrorIn200,
		NoStreamOptions, NoContinuousUsage, NoStreams,
		Malformed, WrongTyped, HTMLPage, NoChoices, NullContent, EmptyLength, Length, NoUsage,
		NegativeUsage, CachedAbove, WrongUsage, EndEarly, Duplicate, ErrorInStream,
		Hang, HangFirst, HangBody, Drip, Cut, Reset, ResetBody,
	}
}

// of returns the fault that req meets: None if it refuses an option that req does not use.
func (f Fault) of(req Request) Fault {
	switch {
	case f == NoStreamOptions && req.StreamOptions == (StreamOptions{}),
		f == NoContinuousUsage && !req.StreamOptions.ContinuousUsage,
		f == NoStreams && !req.Stream:
		return None
	}
	return f
}

// usable reports whether an answer that is spoiled by f is an answer all the same.
func (f Fault) usable() bool {
	switch f {
	case None, Length, NoUsage, NegativeUsage, CachedAbove, WrongUsage, Duplicate, Drip:
		return true
	}
	return false
}

// First returns a Config.Fault that spoils the first n occurrences of every request, so that
// retries beyond them succeed.
func First(n int, f Fault) func(Request) Fault {
	return func(r Request) Fault {
		if r.Occurrence < n {
			return f
		}
		return None
	}
}

// Share returns a Config.Fault that spoils a request with probability p, each fault given being
// equally likely.
func Share(p float64, faults ...Fault) func(Request) Fault {
	return func(r Request) Fault {
		if rng := r.Rand("llmtest.fault"); rng.Float64() < p {
			return pick(rng, faults)
		}
		return None
	}
}

func pick(rng *rand.Rand, faults []Fault) Fault {
	if len(faults) == 0 {
		return None
	}
	return faults[rng.IntN(len(faults))]
}

// refuse answers for the faults that refuse a request, and reports whether f is one.
func (f Fault) refuse(w http.ResponseWriter, cfg Config) bool {
	switch f {
	case RateLimit, RateLimitAfter, RateLimitDate:
		f.setRetryAfter(w.Header(), cfg.RetryAfter)
		writeError(w, 429, "rate_limit_error", "Rate limit reached for requests")
	case NoQuota:
		writeError(w, 429, "insufficient_quota", "You exceeded your current quota, please check your plan")
	case BadKey:
		writeError(w, 401, "invalid_api_key", "Incorrect API key provided")
	case Forbidden:
		writeError(w, 403, "permission_denied", "This key may not use this model")
	case NoModel:
		writeError(w, 404, "model_not_found", "The model does not exist")
	case BadRequest:
		writeError(w, 400, "invalid_request_error", "temperature must be at most 2")
	case NoStreamOptions:
		writeError(w, 400, "invalid_request_error", "Extra parameters ['stream_options'] are not allowed")
	case NoContinuousUsage:
		writeError(w, 400, "unknown_parameter", "Unknown parameter: 'stream_options.continuous_usage_stats'.")
	case NoStreams:
		writeError(w, 400, "unsupported_value", "Streaming is not supported by this model")
	case TooLong:
		writeError(w, 400, "context_length_exceeded", "This model's maximum context length is 32768 tokens")
	case ServerError:
		writeError(w, 500, "internal_error", "CUDA error: out of memory")
	case ServerErrorText:
		writeBody(w, 500, "application/json", `{"error": "the runner has stopped"}`)
	case ServerErrorHTML:
		writeBody(w, 500, "text/html", "<html><head><title>500 Internal Server Error</title></head><body><h1>nginx</h1></body></html>")
	case Overloaded:
		writeError(w, 503, "overloaded", "The engine is overloaded")
	case OverloadedText:
		writeBody(w, 503, "text/plain", "no healthy upstream")
	case Timeout408:
		writeError(w, 408, "timeout", "The request timed out")
	case ErrorIn200:
		writeBody(w, 200, "application/json", errorBody)
	default:
		return false
	}
	return true
}

func (f Fault) setRetryAfter(h http.Header, d time.Duration) {
	switch seconds := (d + time.Second - 1) / time.Second; f {
	case RateLimitAfter:
		h.Set("Retry-After", strconv.Itoa(int(seconds)))
	case RateLimitDate:
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
