package openai

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// The default limits of a [Stream]. They allow for a busy server and for a proxy that buffers text, and still end a
// dead stream long before a call's own timeout.
const (
	DefaultFirstToken = 2 * time.Minute
	DefaultSilence    = 30 * time.Second
	DefaultMinRate    = 2 // tokens a second
	defaultWindow     = 30 * time.Second
)

// A Stream defines when a streamed answer has stalled. The zero value means the default limits.
//
// An attempt that exceeds a limit ends at once as [llm.Stalled]. The connection is closed, so that the server stops
// generating, and the attempt has the tokens streamed so far. Progress is text, of the answer or of the reasoning in
// the fields reasoning_content and reasoning. Keep-alive comments, empty deltas and usage that does not grow are no
// progress.
type Stream struct {
	// FirstToken bounds the time from sending the request to its first token, so it includes
	// connecting, waiting at the server and reading the prompt. 0 means DefaultFirstToken;
	// negative means no limit.
	FirstToken time.Duration
	// Silence bounds the time from one token to the next. 0 means DefaultSilence; negative means
	// no limit.
	Silence time.Duration
	// MinRate is the lowest rate in tokens a second, over any period of Window after the first token: a stream is too slow
	// as soon as fewer than MinRate·Window tokens, rounded up, arrived within the last Window. 0 means DefaultMinRate;
	// negative means no limit.
	MinRate float64
	// Window is the period of MinRate. 0 means 30 seconds.
	Window time.Duration
}

// maxFloor bounds MinRate·Window, since a stream remembers the times of that many tokens.
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

// floor returns the tokens that must arrive in each Window; 0 means no limit.
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
