package openai

import (
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// A form is a way to ask for an answer. Higher forms ask for less, for endpoints that refuse the lower ones.
type form int

const (
	continuousUsage form = iota // streamed, usage in every chunk: stream_options.continuous_usage_stats
	finalUsage                  // streamed, usage at the end: stream_options.include_usage
	noUsage                     // streamed, and no stream_options
	whole                       // in one piece
)

// in returns b in form f.
func (f form) in(b body) body {
	b.Stream = f != whole
	if f < noUsage {
		b.StreamOptions = &streamOptions{IncludeUsage: true, ContinuousUsage: f == continuousUsage}
	}
	return b
}

// forms remembers the form for an endpoint: the one that asks for the most and was not refused. It is safe for
// concurrent use.
//
// A refusal that names streaming, or its options, is remembered for all further requests. Any other may be about
// something else: the request is sent again in a higher form, which is remembered only if the endpoint accepts it. Once
// an endpoint has accepted a request, only a refusal by name counts.
type forms struct {
	mu     sync.Mutex
	most   form
	proven bool // whether the form was accepted
}

func newForms(cfg Config) *forms {
	f := &forms{}
	switch {
	case cfg.Whole:
		f.most = whole
	case ownStreamOptions(cfg.Extra):
		f.most = noUsage // the client adds no options
	}
	return f
}

func (f *forms) get() form {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

func (f *forms) accepted(o form) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.most, f.proven = max(f.most, o), true
}

// refused reports whether a request in the form o that failed with fail should be sent in another form, and in which.
func (f *forms) refused(o form, fail *llm.Error) (form, bool) {
	if o == whole || !refusal(fail) {
		return o, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text, less := fail.Err.Error(), o+1
	switch {
	case strings.Contains(text, "continuous_usage_stats"):
	case strings.Contains(text, "stream_options"), strings.Contains(text, "include_usage"):
	case streaming.MatchString(text):
		less = whole
	default:
		return max(less, f.most), !f.proven || f.most > o
	}
	f.most, f.proven = max(f.most, less), false
	return f.most, true
}

// streaming matches the word by which an endpoint refuses to stream.
var streaming = regexp.MustCompile(`(?i)\bstream(ing|ed|s)?\b`)

// refusal reports whether fail may be about the form of a request: malformed, or not implemented.
func refusal(fail *llm.Error) bool {
	if strings.HasSuffix(fail.Err.Error(), toolsHint) {
		return false
	}
	switch fail.Code {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return fail.Kind == llm.KindBadRequest
	case http.StatusNotImplemented:
		return streaming.MatchString(fail.Err.Error())
	}
	return false
}

// ownStreamOptions reports whether the user has set stream_options in Config.Extra, which are then sent unchanged with
// each request for a stream.
func ownStreamOptions(extra map[string]any) bool {
	_, ok := extra["stream_options"]
	return ok
}
