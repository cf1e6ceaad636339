package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Workers are those that score a run's programs, at one moment.
type Workers struct {
	Workers     int // that were heard of lately
	Slots, Busy int // of these workers; they may be busy for other runs too
	Jobs        int // of this run that wait for a slot
	Redelivered int // jobs that went to another worker
}

// Plus returns w and v together.
func (w Workers) Plus(v Workers) Workers {
	return Workers{w.Workers + v.Workers, w.Slots + v.Slots, w.Busy + v.Busy, w.Jobs + v.Jobs, w.Redelivered +
		v.Redelivered}
}

// String says it in a line.
func (w Workers) String() string {
	text := "no worker answers"
	if w.Workers > 0 {
		text = fmt.Sprintf("%s, %d of %s busy", Count(w.Workers, "worker", "workers"), w.Busy,
			Count(w.Slots, "slot", "slots"))
	}
	text += fmt.Sprintf(", %s queued", Count(w.Jobs, "job", "jobs"))
	if w.Redelivered > 0 {
		text += fmt.Sprintf(", %d went to another worker", w.Redelivered)
	}
	return text
}

// A workersLog says what is worth a line in a log that is kept for days: that workers came or went, and that jobs went
// to another one.
type workersLog struct {
	said  Workers
	when  time.Time     // of the last line
	pause time.Duration // the least time between that and the next; 0 before the first
}

// The pauses between lines double from the first to the longest: workers start one after the other, and the user waits
// for them, but a log of days in which they come and go all the time is to stay short.
const (
	firstPause   = 5 * time.Second
	longestPause = 10 * time.Minute
)

// line returns what is worth a line at the time now, or "". What happens too soon after a line is told of later.
func (l *workersLog) line(now time.Time, w Workers) string {
	same := w.Workers == l.said.Workers && w.Slots == l.said.Slots && w.Redelivered == l.said.Redelivered
	if same || now.Sub(l.when) < l.pause {
		return ""
	}
	l.said, l.when, l.pause = w, now, min(max(2*l.pause, firstPause), longestPause)
	return w.String()
}

// logWorkers prints the lines of a workersLog to out until end is called.
func logWorkers(out io.Writer, workers func() Workers) (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var l workersLog
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if text := l.line(time.Now(), workers()); text != "" {
				fmt.Fprintln(out, text)
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}

// A workersRow shows workers below bars that are drawn, and in lines where none are. The zero value shows nothing.
type workersRow struct {
	bar *mpb.Bar
	end func()
}

// begin begins to show workers, unless it is nil. Without bars, which are nil then, lines go to out.
func (r *workersRow) begin(bars *mpb.Progress, out io.Writer, workers func() Workers) {
	switch {
	case workers == nil:
	case bars == nil:
		r.end = logWorkers(out, workers)
	default: // a bar without one, as its text is refreshed like theirs
		r.bar = bars.MustAdd(0, nil,
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return workers().String() })))
	}
}

// close takes the row away, or ends the lines.
func (r *workersRow) close() {
	if r.bar != nil {
		r.bar.Abort(true)
	}
	if r.end != nil {
		r.end()
	}
}
