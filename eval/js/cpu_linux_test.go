package js_test

import (
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
