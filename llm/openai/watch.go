package openai

import (
	"fmt"
	"sync"
	"time"
)

// How long a stream is read on for what is welcome, but not needed.
const (
	afterFinish = 5 * time.Second        // for the usage, once the answer is complete
	afterDone   = 100 * time.Millisecond // for its end after [DONE], so that the connection can be used again
)

// A stall is why a watch ended a stream. Its text names the limit alone, so that equal runs get equal
// texts.
type stall struct{ limit string }

func (s *stall) Error() string { return "stalled: " + s.limit }

// A watch ends a stream that stalls. It is safe for concurrent use: one goroutine reads the stream
// and tells of its progress, another is the timer's.
//
// Progress costs no work on the timer: it fires when the oldest known deadline passes, and goes on
// waiting if there is a later one by then.
type watch struct {
	limits Stream
	end    func(error)

	mu     sync.Mutex
	timer  *time.Timer // nil while no limit applies
	start  time.Time
	last   time.Duration   // from start to the last token; 0 before the first
	recent []time.Duration // from start to each of the last tokens, as many as floor, in a ring
	oldest int             // of the ring
	over   time.Duration   // from start to when it is read no more, once the answer is complete
}

// newWatch begins to watch: end is called, once, with a *stall when a limit is passed.
func newWatch(limits Stream, end func(error)) *watch {
	w := &watch{limits: limits, end: end, start: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rearm()
	return w
}

// stop ends the watch. The timer's function may still run, but only until it has seen that.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.end = func(error) {}
}

// progress notes that n tokens came.
func (w *watch) progress(n int) {
	now := max(time.Since(w.start), 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.last == 0
	w.last = now
	if first {
		w.recent = make([]time.Duration, w.limits.floor())
		for i := range w.recent { // the first Window begins here
			w.recent[i] = now
		}
		w.rearm() // it is another limit now, which may be shorter
		return
	}
	for range min(n, len(w.recent)) {
		w.recent[w.oldest] = now
		w.oldest = (w.oldest + 1) % len(w.recent)
	}
}

// unknown says that progress will not be told in tokens, so that their rate is not known.
func (w *watch) unknown() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limits.MinRate = -1
}

// finish says that the answer is complete, and how long what follows is waited for.
func (w *watch) finish(wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = time.Since(w.start) + wait
	w.rearm()
}

// rearm sets the timer to the present deadline. The caller holds mu.
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

// fire ends the stream if its deadline has passed, and waits on otherwise.
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

// deadline is when the stream has stalled if no more comes, counted from the start, and by what
// limit; 0 if by none. The caller holds mu.
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
