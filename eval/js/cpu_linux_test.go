package js_test

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// Programs that never end are ended by their processor time as they are by wall time, each alone and beside others.
func TestEndlessByProcessorTime(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience, CPU: 40 * time.Millisecond})
	for _, c := range notrun.Length(endless[:8], endless) { // TestEndless has them all by wall time
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			if got, want := reason(t, r, c.program), "took more than 40ms of processor time"; got != want {
				t.Errorf("reason %q, want %q", got, want)
			}
			if out, err := r.Run(t.Context(), "function f() { return 7 }", "f"); err != nil || string(out) != "7" {
				t.Errorf("an honest program after it: %s, %v", out, err)
			}
		})
	}
}

// What a program waits for a processor does not count: beside many that want it too, programs pass that are within the
// limit, though more time than that goes by.
func TestWaitingIsNoProcessorTime(t *testing.T) {
	const busy = "function f() { let s = 0; for (let i = 0; i < 5e4; i++) s += i % 7; return s }"
	run := func(cfg js.Config) (took time.Duration, passed bool) {
		begin := time.Now()
		_, err := newRunner(t, cfg).Run(t.Context(), busy, "f")
		if err != nil && !strings.Contains(err.Error(), "of processor time") {
			t.Fatal(err)
		}
		return time.Since(begin), err == nil
	}
	alone := time.Hour
	for range 5 {
		took, _ := run(js.Config{Timeout: 10 * time.Minute})
		alone = min(alone, took)
	}
	var stop atomic.Bool
	defer stop.Store(true)
	for range 8 * runtime.GOMAXPROCS(0) {
		go func() { // on a thread of its own, as the system's scheduler shares processors fairly, and Go's does not
			runtime.LockOSThread()
			for !stop.Load() {
			}
		}()
	}
	limit := 3 * alone // processors that share a core are slower, though seldom by so much
	for range 100 {
		if took, passed := run(js.Config{Timeout: 10 * time.Minute, CPU: limit}); passed && took > limit {
			return
		}
	}
	t.Errorf("no program passed that took more than %v", limit)
}
