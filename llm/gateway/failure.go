package gateway

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A failure is an error as clients of both dialects understand it.
type failure struct {
	status  int
	kind    string // Anthropic's type of the error
	message string
	code    string        // OpenAI's code of the error; "" if there is none
	after   time.Duration // the wait before a retry; 0 if none is asked for
}

func (f *failure) Error() string { return f.message }

// invalid is a request that asks for what cannot be had.
func invalid(message string) *failure {
	return &failure{status: http.StatusBadRequest, kind: "invalid_request_error", message: message}
}

func forbidden(message string) *failure {
	return &failure{status: http.StatusForbidden, kind: "permission_error", message: message}
}

// statusOverloaded is Anthropic's status for a server that is too busy. OpenAI's is 503.
const statusOverloaded = 529

// failureOf returns what a client is told of err, an error of Ask, in words of this package.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	e, isModel := errors.AsType[*llm.Error](err)
	switch {
	case errors.Is(err, errClosed):
		return forbidden("the session has ended")
	case errors.Is(err, errBusy):
		return &failure{http.StatusTooManyRequests, "rate_limit_error", "too many calls of the session are under way",
			"rate_limit_exceeded", time.Second}
	case !isModel || errors.Is(err, llm.ErrDraining) || e.Status == llm.Canceled:
		return forbidden("the run takes no further calls: its budget is spent, or it is ending")
	case llm.Unavailable(err):
		return forbidden("the model cannot be reached")
	}
	switch e.Kind {
	case llm.KindContextLength:
		f := invalid("prompt is too long: it exceeds the model's maximum context length")
		f.code = "context_length_exceeded"
		return f
	case llm.KindBadRequest:
		return invalid("the model's endpoint refused the request")
	case llm.KindNoAnswer:
		return invalid("the model or its filter declined to answer")
	case llm.KindRateLimit:
		return &failure{http.StatusTooManyRequests, "rate_limit_error", "the model's endpoint is busy",
			"rate_limit_exceeded", wait(e)}
	}
	return &failure{statusOverloaded, "overloaded_error", "the model gave no usable answer", "overloaded", wait(e)}
}

// wait returns the wait that a client is asked for: the endpoint's, up to a minute. An endpoint may ask for days, which
// a client that obeys would spend asleep.
func wait(e *llm.Error) time.Duration { return min(e.RetryAfter, time.Minute) }

// final reports whether clients should not send the request again.
func (f *failure) final() bool { return f.status < 429 }

// body is the error in a form that clients of both dialects read.
func (f *failure) body() []byte {
	e := fields{"type": f.kind, "message": f.message, "code": nil, "param": nil}
	if f.code != "" {
		e["code"] = f.code
	}
	body, _ := json.Marshal(fields{"type": "error", "error": e}) // strings always encode
	return body
}

// refuse tells a client of err, in the time that it has to take that in.
func (g *Gateway) refuse(w http.ResponseWriter, d dialect, err error) {
	g.renew(w)
	failureOf(err).write(w, d.overloaded())
}

// write sends f with the status of the dialect.
func (f *failure) write(w http.ResponseWriter, overloaded int) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Should-Retry", strconv.FormatBool(!f.final()))
	if f.after > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.after.Seconds()))))
	}
	if f.status != statusOverloaded {
		overloaded = f.status
	}
	w.WriteHeader(overloaded)
	w.Write(f.body())
}
