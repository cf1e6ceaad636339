package openai

import (
	"fmt"
	"sync"
	"time"
)

// How long a stream is read for optional parts.
const (
	afterFinish = 5 * time.Second        // for the usage, after the answer is complete
	afterDone   = 100 * time.Millisecond // for its end after [DONE], so that the connection can be reused
)

// A stall is the reason why a watch ended a stream. Its text has only the limit, so that equal runs get equal texts.
type stall struct{ limit string }

func (s *stall) Error() string { return "stalled: " + s.limit }

// A watch ends a stream that stalls. It is safe for concurrent use: one goroutine reads the stream and reports
// progress, another is the timer's.
//
// Progress does not touch the timer, which fires at the oldest known deadline, and waits on if there is a later one by
// then.
type watch struct {
	limits Stream
	end    func(error)

	mu     sync.Mutex
	timer  *time.Timer // nil while no limit applies
	start  time.Time
	last   time.Duration   // from start to the last token; 0 before the first
	recent []time.Duration // from start to each of the last floor tokens, in a ring
	oldest int             // index in the ring
	over   time.Duration   // from start to the end of reading, once the answer is complete
}

// newWatch starts a watch, which calls end once with a *stall when a limit is exceeded.
func newWatch(limits Stream, end func(error)) *watch {
	w := &watch{limits: limits, end: end, start: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rearm()
	return w
}

// stop ends the watch. The timer's function may still run, until it notices.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.end = func(error) {}
}

// progress records n tokens.
func (w *watch) progress(n int) {
	now := max(time.Since(w.start), 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.last == 0
	w.last = now
	if first {
		w.recent = make([]time.Duration, w.limits.floor())
		for i := range w.recent { // the first Window begins now
			w.recent[i] = now
		}
		w.rearm() // another limit applies now, which may be shorter
		return
	}
	for range min(n, len(w.recent)) {
		w.recent[w.oldest] = now
		w.oldest = (w.oldest + 1) % len(w.recent)
	}
}

// unknown turns off the limit on the rate, as progress will not be counted in tokens.
func (w *watch) unknown() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limits.MinRate = -1
}

// finish records that the answer is complete, and limits the wait for what follows.
func (w *watch) finish(wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = time.Since(w.start) + wait
	w.rearm()
}

// rearm sets the timer to the current deadline. The caller holds mu.
func (w *watch) rearm() {
	at, _ := w.deadline()
	switch wait := at - time.Since(w.start); {
	case at == 0 && w.timer != nil:
		w.timer.Stop()
	case at == 0:
	case w.timer == nil:
		w.timer = time.AfterFunc(wait, w.fire)
	default:
		w.timer.Reset(wait)
	}
}

// fire ends the stream if its deadline has passed, and rearms the timer otherwise.
func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, limit := w.deadline()
	if at == 0 || time.Since(w.start) < at {
		w.rearm()
		return
	}
	w.end(&stall{limit})
}

// deadline returns when the stream will have stalled without further tokens, counted from the start, and the limit; 0
// means never. The caller holds mu.
func (w *watch) deadline() (at time.Duration, limit string) {
	s := w.limits
	earlier := func(d time.Duration, format string, args ...any) {
		if at == 0 || d < at {
			at, limit = d, fmt.Sprintf(format, args...)
		}
	}
	switch {
	case w.over > 0:
		return w.over, "nothing more after the end of the answer"
	case w.last == 0 && s.FirstToken > 0:
		return s.FirstToken, fmt.Sprintf("no token within %v", s.FirstToken)
	case w.last == 0:
		return 0, ""
	}
	if s.Silence > 0 {
		earlier(w.last+s.Silence, "silent for %v", s.Silence)
	}
	if len(w.recent) > 0 {
		earlier(w.recent[w.oldest]+s.Window, "fewer than %d tokens in %v", len(w.recent), s.Window)
	}
	return at, limit
}
