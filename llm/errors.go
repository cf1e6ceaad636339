package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The kinds of [Failed] attempts, which follow "error:" in results.
const (
	KindRefused       = "refused"        // nothing there: connection refused, no such host, TLS
	KindConnection    = "connection"     // reset or cut under way
	KindAuth          = "auth"           // 401, 402, 403: the key is not accepted
	KindQuota         = "quota"          // a credit, a quota or a limit of the day is used up
	KindNotFound      = "not_found"      // 404, 405 or a redirect: no such path or model
	KindBadRequest    = "bad_request"    // 400 and other 4xx
	KindContextLength = "context_length" // the prompt does not fit
	KindRateLimit     = "rate_limit"     // 429
	KindServer        = "server"         // 5xx, and 408, 409, 425, which ask for another try
	KindBrokenReply   = "broken_reply"   // a success that holds no usable answer
	KindNoAnswer      = "no_answer"      // a success without text, as the model or a filter would have it
	KindOther         = "other"
)

// An Error is the reason why an attempt brought no usable reply.
type Error struct {
	Status     Status        // never OK
	Kind       string        // one of the Kind constants if Status is Failed
	Endpoint   string        // the URL that was asked
	Code       int           // HTTP status; 0 if none came
	RetryAfter time.Duration // the wait that the server asked for; 0 if none
	Err        error         // the cause; never nil
}

// Error names the endpoint and the cause, in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("llm: ")
	if e.Endpoint != "" {
		fmt.Fprintf(&b, "%s: ", e.Endpoint)
	}
	b.WriteString(strings.Join(strings.Fields(e.Err.Error()), " "))
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Final reports whether sending the same request again cannot help, because the key, the path or the request itself was
// refused, the model or a filter declined to answer, or the caller canceled it.
func (e *Error) Final() bool {
	switch e.Kind {
	case KindAuth, KindQuota, KindNotFound, KindBadRequest, KindContextLength, KindNoAnswer:
		return true
	}
	return e.Status == Canceled
}

// Unavailable reports whether err says that the model cannot be reached or used at all: the
// connection is refused, the key rejected, a quota used up, the model unknown. A search stops on such an error
// instead of spending its budget on calls that cannot succeed.
func Unavailable(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return errors.Is(err, ErrUnavailable)
	}
	switch e.Kind {
	case KindRefused, KindAuth, KindQuota, KindNotFound:
		return true
	}
	return errors.Is(e.Err, ErrUnavailable)
}

var (
	// ErrUnavailable makes [Unavailable] true for the errors that wrap it. Use it in LLMs of your own.
	ErrUnavailable = errors.New("model unavailable")
	// ErrDraining means that a request was not sent because its run is ending.
	ErrDraining = errors.New("not sent: the run is ending")
)

// StatusOf returns the status of an attempt that ended with err: that of the [*Error] in its chain, or else
// Timeout for a deadline that passed, Canceled for a context that was canceled, Failed for any other error,
// and OK for nil.
func StatusOf(err error) Status {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Status
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Failed
}
