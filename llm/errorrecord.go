package llm

import (
	"context"
	"errors"
	"time"
)

// An ErrorRecord is an error that can be stored as JSON and restored by Err. It keeps the text, the [*Error] in the
// error's chain, and whether the error is one that callers test for: [ErrUnavailable], [ErrDraining],
// context.DeadlineExceeded, context.Canceled, or the refusal of a [Trace]'s Send.
type ErrorRecord struct {
	Text string `json:"text"`
	chain
}

// A chain is what callers may ask of a recorded error. But for Is, its fields are those of the [*Error] in it, and
// Status is "" if there was none.
type chain struct {
	Is         []string      `json:"is,omitempty"` // names of the errors that callers test for, in words
	Status     Status        `json:"status,omitempty"`
	Kind       string        `json:"kind,omitempty"`
	Endpoint   string        `json:"endpoint,omitempty"`
	Code       int           `json:"code,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"` // nanoseconds
	Cause      string        `json:"cause,omitempty"`       // the text of its Err
	CauseIs    []string      `json:"cause_is,omitempty"`    // what its Err is, as in Is
}

// NewErrorRecord returns the record of err, or nil if err is nil.
func NewErrorRecord(err error) *ErrorRecord {
	if err == nil {
		return nil
	}
	r := &ErrorRecord{err.Error(), chain{Is: sentinelsOf(err)}}
	if e, ok := errors.AsType[*Error](err); ok {
		r.Status, r.Kind, r.Endpoint, r.Code, r.RetryAfter = e.Status, e.Kind, e.Endpoint, e.Code, e.RetryAfter
		r.Cause, r.CauseIs = e.Err.Error(), sentinelsOf(e.Err)
	}
	return r
}

// Err returns an error that prints as the recorded one did, with the same results from errors.As, [StatusOf],
// [Unavailable] and [Retryable]. It is nil if r is.
func (r *ErrorRecord) Err() error {
	if r == nil {
		return nil
	}
	err := wording{text: r.Text}
	if r.Status != "" {
		err.chain = append(err.chain, &Error{
			Status: r.Status, Kind: r.Kind, Endpoint: r.Endpoint, Code: r.Code, RetryAfter: r.RetryAfter,
			Err: wording{r.Cause, appendSentinels(nil, r.CauseIs)},
		})
	}
	err.chain = appendSentinels(err.chain, r.Is)
	return err
}

// sentinels returns the errors that a record keeps by name, in the order of its names.
func sentinels() []struct {
	name string
	err  error
} {
	return []struct {
		name string
		err  error
	}{
		{"unavailable", ErrUnavailable},
		{"deadline exceeded", context.DeadlineExceeded},
		{"canceled", context.Canceled},
		{"draining", ErrDraining},
		{"unsent", errUnsent},
	}
}

func sentinelsOf(err error) (names []string) {
	for _, s := range sentinels() {
		if errors.Is(err, s.err) {
			names = append(names, s.name)
		}
	}
	return names
}

// appendSentinels appends the errors of these names. It ignores unknown names, which a later version wrote.
func appendSentinels(errs []error, names []string) []error {
	for _, name := range names {
		for _, s := range sentinels() {
			if s.name == name {
				errs = append(errs, s.err)
			}
		}
	}
	return errs
}

// wording is an error with a text of its own and a chain of other errors.
type wording struct {
	text  string
	chain []error
}

func (w wording) Error() string   { return w.text }
func (w wording) Unwrap() []error { return w.chain }
