package openai

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// The default limits of a [Stream]. They leave room for a server that is busy with others
// and for a proxy that holds text back, and still end a dead stream long before a call's own timeout.
const (
	DefaultFirstToken = 2 * time.Minute
	DefaultSilence    = 30 * time.Second
	DefaultMinRate    = 2 // tokens a second
	defaultWindow     = 30 * time.Second
)

// A Stream says when an answer that is streamed has stalled. The zero value means the default limits.
//
// An attempt that passes one of the limits ends at once as [llm.Stalled]. The connection is closed, so
// that the server stops generating, and what was streamed until then is in the attempt. Text counts as
// progress: that of the answer, and of the reasoning in the fields reasoning_content and reasoning.
// Keep-alive comments, empty deltas and usage that does not grow do not.
type Stream struct {
	// FirstToken bounds the time from sending the request to its first token, so it includes
	// connecting, waiting at the server and reading the prompt. 0 means DefaultFirstToken;
	// negative means no limit.
	FirstToken time.Duration
	// Silence bounds the time from one token to the next. 0 means DefaultSilence; negative means
	// no limit.
	Silence time.Duration
	// MinRate is the lowest rate in tokens a second, over any stretch of Window after the first
	// token: a stream is too slow as soon as fewer than MinRate·Window tokens, rounded up, came
	// within the last Window. 0 means DefaultMinRate; negative means no limit.
	MinRate float64
	// Window is over what time MinRate is taken. 0 means 30 seconds.
	Window time.Duration
}

// maxFloor bounds MinRate·Window, since a stream remembers when that many tokens came.
const maxFloor = 1 << 16

func (s Stream) withDefaults() Stream {
	s.FirstToken = cmp.Or(s.FirstToken, DefaultFirstToken)
	s.Silence = cmp.Or(s.Silence, DefaultSilence)
	s.MinRate = cmp.Or(s.MinRate, DefaultMinRate)
	s.Window = cmp.Or(s.Window, defaultWindow)
	return s
}

func (s Stream) validate() error {
	switch floor := s.MinRate * s.Window.Seconds(); {
	case s.Window < 0:
		return fmt.Errorf("openai: Stream.Window is %v: need a positive duration", s.Window)
	case math.IsNaN(s.MinRate):
		return fmt.Errorf("openai: Stream.MinRate is %v: need a number", s.MinRate)
	case floor > maxFloor:
		return fmt.Errorf("openai: Stream.MinRate of %g over %v: need at most %d tokens in a Window",
			s.MinRate, s.Window, maxFloor)
	}
	return nil
}

// floor is how many tokens have to come in each Window; 0 if there is no such limit.
func (s Stream) floor() int { return int(max(0, math.Ceil(s.MinRate*s.Window.Seconds()))) }

// String prints the limits, defaults included.
func (s Stream) String() string {
	s = s.withDefaults()
	var limits []string
	if s.FirstToken > 0 {
		limits = append(limits, fmt.Sprintf("first token within %v", s.FirstToken))
	}
	if s.Silence > 0 {
		limits = append(limits, fmt.Sprintf("silence up to %v", s.Silence))
	}
	if s.MinRate > 0 {
		limits = append(limits, fmt.Sprintf("%g tokens/s over %v", s.MinRate, s.Window))
	}
	if limits == nil {
		return "streamed without limits"
	}
	return "streamed, " + strings.Join(limits, ", ")
}
