package openai

import (
	"net/http"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// A usageOption is how much usage is asked for in a stream. Endpoints that know less refuse the
// rest: a higher one asks for less.
type usageOption int

const (
	continuousUsage usageOption = iota // in every chunk: stream_options.continuous_usage_stats
	finalUsage                         // at the end: stream_options.include_usage
	noUsage                            // nothing, and no stream_options
)

// in returns b for a stream with the option.
func (o usageOption) in(b body) body {
	b.Stream = true
	if o != noUsage {
		b.StreamOptions = &streamOptions{IncludeUsage: true, ContinuousUsage: o == continuousUsage}
	}
	return b
}

// usageOptions are what is known of an endpoint: the most it has not refused. It is safe for
// concurrent use.
//
// A refusal that names the options settles it for all further requests. One that does not may be
// about something else: then the request is sent again with less, and only if that is accepted is
// it remembered. Once an endpoint has accepted a request, only a refusal by name counts.
type usageOptions struct {
	mu     sync.Mutex
	most   usageOption
	proven bool // it was accepted
}

func newUsageOptions(cfg Config) *usageOptions {
	u := &usageOptions{}
	if ownStreamOptions(cfg.Extra) {
		u.most = noUsage // the client adds nothing to them
	}
	return u
}

func (u *usageOptions) get() usageOption {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.most
}

func (u *usageOptions) accepted(o usageOption) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.most, u.proven = max(u.most, o), true
}

// refused reports whether a request with o that ended in fail is worth sending with less, and with
// what.
func (u *usageOptions) refused(o usageOption, fail *llm.Error) (usageOption, bool) {
	if fail.Kind != llm.KindBadRequest || o == noUsage ||
		fail.Code != http.StatusBadRequest && fail.Code != http.StatusUnprocessableEntity {
		return o, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	text, less := fail.Err.Error(), o+1
	switch {
	case strings.Contains(text, "continuous_usage_stats"):
	case strings.Contains(text, "stream_options"), strings.Contains(text, "include_usage"):
	default:
		return max(less, u.most), !u.proven || u.most > o
	}
	u.most, u.proven = max(u.most, less), false
	return u.most, true
}

// ownStreamOptions reports whether the user has set stream_options in Config.Extra, which are then
// sent as they are.
func ownStreamOptions(extra map[string]any) bool {
	_, ok := extra["stream_options"]
	return ok
}
