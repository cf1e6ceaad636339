package cli

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

func TestWorkersText(t *testing.T) {
	for _, tt := range []struct {
		reason, want string
		of           Workers
	}{
		{"before one was heard of", "no worker answers, 16 jobs queued", Workers{Jobs: 16}},
		{"one of each", "1 worker, 1 of 1 slot busy, 1 job queued", Workers{1, 1, 1, 1, 0}},
		{"many", "3 workers, 20 of 24 slots busy, 256 jobs queued", Workers{3, 24, 20, 256, 0}},
		{"after one was lost", "2 workers, 0 of 16 slots busy, 0 jobs queued, 7 went to another worker",
			Workers{2, 16, 0, 0, 7}},
	} {
		if got := tt.of.String(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
	if got, want := (Workers{1, 2, 3, 4, 5}).Plus(Workers{10, 20, 30, 40, 50}),
		(Workers{11, 22, 33, 44, 55}); got != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
}

// A line is printed when workers come or go or lose jobs. What changes in the pause after it is told of at its end.
func TestWorkersLog(t *testing.T) {
	var l workersLog
	begin := time.Unix(1e9, 0)
	for _, tt := range []struct {
		reason string
		after  time.Duration
		now    Workers
		said   bool
	}{
		{"none has come yet", 0, Workers{Jobs: 16}, false},
		{"the first", 3 * time.Second, Workers{1, 8, 0, 16, 0}, true},
		{"jobs and busy slots change all the time", 4 * time.Second, Workers{1, 8, 8, 20, 0}, false},
		{"more, but soon after", 5 * time.Second, Workers{8, 64, 8, 20, 0}, false},
		{"still too soon", 7 * time.Second, Workers{9, 72, 8, 20, 0}, false},
		{"the latest of these", 8 * time.Second, Workers{9, 72, 8, 20, 0}, true},
		{"the next pause is longer", 17 * time.Second, Workers{10, 80, 8, 20, 0}, false},
		{"and over", 18 * time.Second, Workers{10, 80, 8, 20, 0}, true},
		{"hours without a change", 5 * time.Hour, Workers{10, 80, 70, 256, 0}, false},
		{"a job went to another worker", 5*time.Hour + time.Second, Workers{10, 80, 70, 256, 1}, true},
		{"one that goes and comes back within the time", 5*time.Hour + 20*time.Second, Workers{9, 72, 70, 256, 1}, false},
		{"is back", 5*time.Hour + 10*time.Minute, Workers{10, 80, 70, 256, 1}, false},
		{"all gone", 6 * time.Hour, Workers{0, 0, 0, 256, 1}, true},
	} {
		got := l.line(begin.Add(tt.after), tt.now)
		if tt.said && got != tt.now.String() || !tt.said && got != "" {
			t.Errorf("%s: after %v of %+v it says %q", tt.reason, tt.after, tt.now, got)
		}
	}
}

// Workers that come and go all day long are worth 150 lines.
func TestWorkersLogOfADay(t *testing.T) {
	var l workersLog
	begin, lines := time.Unix(1e9, 0), 0
	for second := range 24 * 60 * 60 {
		if l.line(begin.Add(time.Duration(second)*time.Second), Workers{Workers: 1 + second}) != "" {
			lines++
		}
	}
	if lines < 140 || lines > 160 {
		t.Errorf("%d lines", lines)
	}
}

// Without a terminal, a Progress and a Board print such lines between the others until they are closed. Without
// workers they print none.
func TestWorkersWithoutATerminal(t *testing.T) {
	for name, begin := range map[string]func(of func() Workers) (end func()){
		"a Progress": func(of func() Workers) func() {
			o := Options{T: 1, N: 1, Workers: of}
			return o.NewProgress(context.Background(), "", func(evolve.Event) string { return "" }).Close
		},
		"a Board": func(of func() Workers) func() { return NewBoard(context.Background(), nil, of).Close },
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			text := runtest.Output(t, func() {
				end := begin(func() Workers { return Workers{Workers: 1 + int(time.Since(start)/time.Hour), Slots: 8} })
				time.Sleep(2*time.Hour + time.Minute)
				end()
				time.Sleep(2 * time.Hour)
			})
			if lines := strings.Split(text, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[0], "1 worker,") ||
				!strings.HasPrefix(lines[2], "3 workers,") {
				t.Errorf("%s prints %q in two hours in which two workers come", name, text)
			}
			if text := runtest.Output(t, func() {
				end := begin(nil)
				time.Sleep(time.Hour)
				end()
			}); text != "" {
				t.Errorf("%s of a run without workers prints %q", name, text)
			}
		})
	}
}
