package openai

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// The default limits of a [Stream].
const (
	DefaultFirstToken = 2 * time.Minute
	DefaultSilence    = 30 * time.Second
	DefaultMinRate    = 2 // tokens a second
)

// A Stream defines when a streamed answer has stalled. The zero value means the default limits; a negative limit means
// none.
//
// An attempt that exceeds a limit ends at once as [llm.Stalled], with the tokens streamed so far. Only text, of the
// answer or of the reasoning, and usage that grows are progress.
type Stream struct {
	// FirstToken bounds the time from sending the request to its first token. 0 means DefaultFirstToken.
	FirstToken time.Duration
	// Silence bounds the time from one token to the next. 0 means DefaultSilence.
	Silence time.Duration
	// MinRate is the lowest rate in tokens a second, in each Window from the first token on. 0 means DefaultMinRate.
	MinRate float64
	Window  time.Duration // 0 means 30 seconds
}

func (s Stream) withDefaults() Stream {
	return Stream{cmp.Or(s.FirstToken, DefaultFirstToken), cmp.Or(s.Silence, DefaultSilence),
		cmp.Or(s.MinRate, DefaultMinRate), cmp.Or(s.Window, 30*time.Second)}
}

// String prints the limits, defaults included.
func (s Stream) String() string {
	s = s.withDefaults()
	return fmt.Sprintf("streamed, first token within %v, silence up to %v, %g tokens/s over %v", s.FirstToken, s.Silence,
		s.MinRate, s.Window)
}

// A watch ends a stream that stalls. One goroutine reads the stream and calls its methods.
type watch struct {
	Stream
	end     func(error) // called when a limit is exceeded, perhaps more than once
	silence *time.Timer
	rate    *time.Timer
	begun   bool         // whether a token came
	tokens  atomic.Int64 // in this Window, but for the very first
}

// watch starts a watch on a stream.
func (s Stream) watch(end func(error)) *watch {
	w := &watch{Stream: s, end: end, silence: time.NewTimer(0)}
	w.rate = time.AfterFunc(math.MaxInt64, func() {
		floor := int64(math.Ceil(min(s.MinRate*s.Window.Seconds(), 1e9)))
		if w.tokens.Swap(0) < floor {
			w.stall("fewer than %d tokens in %v", floor, s.Window)
		} else {
			w.rate.Reset(s.Window)
		}
	})
	w.wait(s.FirstToken, "no token within %v")
	return w
}

func (w *watch) stall(format string, args ...any) {
	w.end(&llm.Error{Status: llm.Stalled, Err: fmt.Errorf("stalled: "+format, args...)})
}

// wait ends the stream unless it is called again, or the watch stopped, within d. 0 or less means never.
func (w *watch) wait(d time.Duration, limit string) {
	if w.silence.Stop(); d > 0 {
		w.silence = time.AfterFunc(d, func() { w.stall(limit, d) })
	}
}

// progress records n tokens.
func (w *watch) progress(n int) {
	if w.tokens.Add(int64(n)); !w.begun {
		w.begun = true
		if w.tokens.Add(-1); w.MinRate > 0 && w.Window > 0 {
			w.rate.Reset(w.Window)
		}
	}
	w.wait(w.Silence, "silent for %v")
}

// finish records that the answer is complete, and limits the wait for what follows.
func (w *watch) finish(d time.Duration) {
	w.rate.Stop()
	w.wait(d, "nothing more within %v after the end of the answer")
}

func (w *watch) stop() {
	w.silence.Stop()
	w.rate.Stop()
}
