package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// exchangeVersion is what "v" says in a line of a recording.
const exchangeVersion = 1

// An exchange is one line of a recording.
type exchange struct {
	V       int             `json:"v"`
	Key     string          `json:"key"` // of Request, for tools; Replay goes by the request itself
	Request json.RawMessage `json:"request"`
	Reply   *Reply          `json:"reply"`
	Err     *errorRecord    `json:"error,omitempty"`
}

// linePrefix is what a line that was written here begins with.
const linePrefix = `{"v":1,"key":"`

var errNoRecording = errors.New("not a recording")

// beginsLine reports whether a torn line can be the beginning of an exchange, which tells a
// recording that was killed at its first line from another file.
func beginsLine(torn []byte) bool {
	n := min(len(torn), len(linePrefix))
	return string(torn[:n]) == linePrefix[:n]
}

// encodeExchange returns one line, its newline included.
func encodeExchange(req Request, reply Reply, err error) ([]byte, error) {
	canonical := Canonical(req)
	x := exchange{exchangeVersion, Key(req), canonical, &reply, recordError(err)}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // programs are full of < and >
	if err := enc.Encode(x); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// decodeExchange reads one line.
func decodeExchange(line []byte) (req Request, reply Reply, err *errorRecord, bad error) {
	var x exchange
	if bad := json.Unmarshal(line, &x); bad != nil {
		return req, reply, nil, bad
	}
	switch {
	case x.V != exchangeVersion:
		return req, reply, nil, fmt.Errorf("version %d of an exchange: this program reads %d", x.V, exchangeVersion)
	case len(x.Request) == 0 || x.Request[0] != '{':
		return req, reply, nil, errors.New("no request")
	case x.Reply == nil:
		return req, reply, nil, errors.New("no reply")
	}
	if bad := json.Unmarshal(x.Request, &req); bad != nil {
		return req, reply, nil, fmt.Errorf("request: %w", bad)
	}
	return req, *x.Reply, x.Err, nil
}

// An errorRecord keeps of an error what callers ask of it: its text, its class as an [Error], and
// whether it is one of the sentinels below.
type errorRecord struct {
	Text string        `json:"text"`
	As   *classRecord  `json:"as,omitempty"` // the *Error in its chain
	Is   []sentinelKey `json:"is,omitempty"`
}

type classRecord struct {
	Status     Status        `json:"status"`
	Kind       string        `json:"kind,omitempty"`
	Endpoint   string        `json:"endpoint,omitempty"`
	Code       int           `json:"code,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Cause      string        `json:"cause"`
	Is         []sentinelKey `json:"is,omitempty"`
}

type sentinelKey string

const (
	isUnavailable sentinelKey = "unavailable"
	isDeadline    sentinelKey = "deadline exceeded"
	isCanceled    sentinelKey = "canceled"
	isDraining    sentinelKey = "draining"
)

func (k sentinelKey) sentinel() error {
	switch k {
	case isUnavailable:
		return ErrUnavailable
	case isDeadline:
		return context.DeadlineExceeded
	case isCanceled:
		return context.Canceled
	case isDraining:
		return ErrDraining
	}
	return nil // of a later version: what is not known is not claimed
}

func sentinelsOf(err error) (keys []sentinelKey) {
	for _, k := range []sentinelKey{isUnavailable, isDeadline, isCanceled, isDraining} {
		if errors.Is(err, k.sentinel()) {
			keys = append(keys, k)
		}
	}
	return keys
}

func recordError(err error) *errorRecord {
	if err == nil {
		return nil
	}
	r := &errorRecord{Text: err.Error(), Is: sentinelsOf(err)}
	if e, ok := errors.AsType[*Error](err); ok {
		r.As = &classRecord{
			Status: e.Status, Kind: e.Kind, Endpoint: e.Endpoint, Code: e.Code, RetryAfter: e.RetryAfter,
			Cause: e.Err.Error(), Is: sentinelsOf(e.Err),
		}
	}
	return r
}

// restore makes an error that prints, and answers to errors.As, [StatusOf] and [Unavailable], as
// the recorded one did.
func (r *errorRecord) restore() error {
	if r == nil {
		return nil
	}
	err := wording{text: r.Text}
	if r.As != nil {
		err.chain = append(err.chain, r.As.restore())
	}
	err.chain = appendSentinels(err.chain, r.Is)
	return err
}

func (r *classRecord) restore() *Error {
	return &Error{
		Status: r.Status, Kind: r.Kind, Endpoint: r.Endpoint, Code: r.Code, RetryAfter: r.RetryAfter,
		Err: wording{r.Cause, appendSentinels(nil, r.Is)},
	}
}

func appendSentinels(errs []error, keys []sentinelKey) []error {
	for _, k := range keys {
		if err := k.sentinel(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// wording is an error with a text of its own that is also every error of its chain.
type wording struct {
	text  string
	chain []error
}

func (w wording) Error() string   { return w.text }
func (w wording) Unwrap() []error { return w.chain }
