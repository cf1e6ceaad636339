package openai

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A step is what a stream does at a time counted from its start.
type step struct {
	at     time.Duration
	tokens int           // that come then
	finish time.Duration // how long to wait for what follows the answer; 0 before its end, negative if nothing follows
}

func TestWatchEndsAStreamAtItsLimit(t *testing.T) {
	const ms = time.Millisecond
	rate := Stream{MinRate: 4, Window: 1000 * ms}
	four := []step{{100 * ms, 1, 0}, {200 * ms, 1, 0}, {300 * ms, 1, 0}, {400 * ms, 1, 0}}
	for _, tt := range []struct {
		reason string
		limits Stream
		steps  []step
		at     time.Duration // when it is ended; 0 if never
		why    string
	}{
		{"it is over", Stream{FirstToken: 2000 * ms, MinRate: 1, Window: 1000 * ms},
			[]step{{100 * ms, 1, 0}, {200 * ms, 0, -1}}, 0, ""},
		{"nothing comes", Stream{FirstToken: 2000 * ms}, nil, 2000 * ms, "no token within 2s"},
		{"the first token comes just in time, then silence", Stream{FirstToken: 2000 * ms, Silence: 500 * ms},
			[]step{{1999 * ms, 1, 0}}, 2499 * ms, "silent for 500ms"},
		{"every token begins a new silence", Stream{Silence: 500 * ms},
			[]step{{100 * ms, 1, 0}, {599 * ms, 1, 0}, {1098 * ms, 1, 0}}, 1598 * ms, "silent for 500ms"},
		{"the window from the first one on has three", rate, four[:3], 1100 * ms, "fewer than 4 tokens in 1s"},
		{"with four the next window decides", rate, four, 2100 * ms, "fewer than 4 tokens in 1s"},
		{"tokens that come together count each", rate, []step{{100 * ms, 1, 0}, {900 * ms, 50, 0}}, 2100 * ms,
			"fewer than 4 tokens in 1s"},
		{"a drip passes a limit on silence but not one on the rate",
			Stream{Silence: 1500 * ms, MinRate: 2, Window: 2000 * ms},
			[]step{{100 * ms, 1, 0}, {1100 * ms, 1, 0}, {2000 * ms, 1, 0}}, 2100 * ms, "fewer than 4 tokens in 2s"},
		{"no limits", Stream{}, []step{{100 * ms, 1, 0}, {100_000 * ms, 1, 0}}, 0, ""},
		{"after its end a stream is not waited for as long as before",
			Stream{Silence: 5000 * ms, MinRate: 3, Window: 300 * ms}, []step{{100 * ms, 1, 0}, {200 * ms, 0, 700 * ms}},
			900 * ms, "nothing more within 700ms after the end of the answer"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var at time.Duration
			ctx, end := context.WithCancelCause(t.Context())
			defer context.AfterFunc(ctx, func() { at = time.Since(start) })()
			w := tt.limits.watch(end)
			for _, s := range tt.steps {
				time.Sleep(s.at - time.Since(start))
				if s.tokens > 0 {
					w.progress(s.tokens)
				}
				if s.finish != 0 {
					w.finish(s.finish)
				}
			}
			time.Sleep(time.Hour)
			w.finish(0)
			synctest.Wait()
			if why := context.Cause(ctx); at != tt.at || tt.at > 0 && why.Error() != "llm: stalled: "+tt.why {
				t.Errorf("%s: ended at %v by %v, want at %v by %q", tt.reason, at, why, tt.at, tt.why)
			}
		})
	}
}
