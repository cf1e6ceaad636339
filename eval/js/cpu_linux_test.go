package js_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/js"
)

// Programs that never end are ended by their processor time as they are by wall time, each alone and beside others.
func TestEndlessByProcessorTime(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience, CPU: 40 * time.Millisecond})
	for _, c := range endless {
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

// What a program waits for a processor does not count. So many spin here that each gets a share, and a program whose
// processor time is within the limit passes, though more time than that goes by.
func TestWaitingIsNoProcessorTime(t *testing.T) {
	const limit = 200 * time.Millisecond
	var stop atomic.Bool
	defer stop.Store(true)
	for range 4 * runtime.GOMAXPROCS(0) {
		go func() { // on a thread of its own, as the system's scheduler shares processors fairly, and Go's does not
			runtime.LockOSThread()
			for !stop.Load() {
			}
		}()
	}
	r := newRunner(t, js.Config{Timeout: patience, CPU: limit})
	const busy = "function f() { let s = 0; for (let i = 0; i < 3e5; i++) s += i % 7; return s }"
	begin := time.Now()
	for range 3 {
		if _, err := r.Run(t.Context(), busy, "f"); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("3 runs in %v", time.Since(begin))
}
