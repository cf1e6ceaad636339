// Package stall ends what makes no progress.
package stall

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// Limits define when a stream of tokens has stalled. A limit of 0 or less means none.
type Limits struct {
	First   time.Duration // for the first token
	Silence time.Duration // from one token to the next
	Floor   int           // tokens that are needed in each Window, from the first one on
	Window  time.Duration
}

// An Error says which limit was exceeded, and nothing else, so that equal runs get equal texts.
type Error struct{ Limit string }

func (e *Error) Error() string { return "stalled: " + e.Limit }

// A Watch ends a stream that stalls. It is safe for concurrent use: one goroutine reads the stream and reports
// progress, others are the timers'.
type Watch struct {
	limits Limits
	end    func(error)

	mu            sync.Mutex
	silence, rate *time.Timer
	limit         string // that silence is for
	tokens        int    // in this Window; -1 before the first
	stopped       bool
}

// New starts a watch, which calls end with an [*Error] when a limit is exceeded, perhaps more than once.
func New(limits Limits, end func(error)) *Watch {
	w := &Watch{limits: limits, end: end, tokens: -1}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silence = time.AfterFunc(math.MaxInt64, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.stopped {
			w.end(&Error{w.limit})
		}
	})
	w.rate = time.AfterFunc(math.MaxInt64, w.measure)
	w.wait(limits.First, fmt.Sprintf("no token within %v", limits.First))
	return w
}

// wait sets the timer for silence. The caller holds mu.
func (w *Watch) wait(d time.Duration, limit string) {
	if w.silence.Stop(); d > 0 {
		w.limit = limit
		w.silence.Reset(d)
	}
}

// measure ends the stream if the Window that ends now had too few tokens.
func (w *Watch) measure() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if w.tokens < w.limits.Floor {
		w.end(&Error{fmt.Sprintf("fewer than %d tokens in %v", w.limits.Floor, w.limits.Window)})
	}
	w.tokens = 0
	w.rate.Reset(w.limits.Window)
}

// Stop ends the watch.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.silence.Stop()
	w.rate.Stop()
}

// Progress records n tokens.
func (w *Watch) Progress(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	limit := w.limit
	if w.tokens < 0 {
		limit = fmt.Sprintf("silent for %v", w.limits.Silence)
		if w.limits.Floor > 0 && w.limits.Window > 0 {
			w.rate.Reset(w.limits.Window)
		}
	}
	w.tokens = max(w.tokens+n, 0)
	w.wait(w.limits.Silence, limit)
}

// Finish records that the answer is complete, and limits the wait for what follows.
func (w *Watch) Finish(wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rate.Stop()
	w.wait(wait, "nothing more after the end of the answer")
}
