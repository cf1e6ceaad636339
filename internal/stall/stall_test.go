package stall

import (
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

// A step is what a stream does at a time counted from its start, in milliseconds.
type step struct {
	at     int
	tokens int           // that come then
	finish time.Duration // what follows is waited for so long; 0 if the answer is not complete
}

func TestWatchEndsAStreamAtItsLimit(t *testing.T) {
	rate := Limits{Floor: 4, Window: 1000 * ms}
	for _, tt := range []struct {
		reason string
		limits Limits
		steps  []step
		at     int // when it is ended, in milliseconds; 0 if never
		why    string
	}{
		{"nothing comes", Limits{First: 2000 * ms}, nil, 2000, "stalled: no token within 2s"},
		{"the first token comes just in time, then silence", Limits{First: 2000 * ms, Silence: 500 * ms},
			[]step{{1999, 1, 0}}, 2499, "stalled: silent for 500ms"},
		{"every token begins a new silence", Limits{Silence: 500 * ms}, []step{{100, 1, 0}, {599, 1, 0}, {1098, 1, 0}}, 1598,
			"stalled: silent for 500ms"},
		{"a limit on silence that is longer than that on the first token", Limits{First: 100 * ms, Silence: 5000 * ms},
			[]step{{50, 1, 0}}, 5050, "stalled: silent for 5s"},
		{"four tokens in a second are needed: the window after the first one has three more", rate,
			[]step{{100, 1, 0}, {200, 1, 0}, {300, 1, 0}, {400, 1, 0}}, 1100, "stalled: fewer than 4 tokens in 1s"},
		{"with four more the next window decides", rate,
			[]step{{100, 1, 0}, {200, 1, 0}, {300, 1, 0}, {400, 1, 0}, {500, 1, 0}}, 2100, "stalled: fewer than 4 tokens in 1s"},
		{"tokens that come together count each", rate, []step{{100, 1, 0}, {900, 50, 0}}, 2100,
			"stalled: fewer than 4 tokens in 1s"},
		{"a drip of one a second passes a limit on silence but not one on the rate",
			Limits{Silence: 1500 * ms, Floor: 4, Window: 2000 * ms}, []step{{100, 1, 0}, {1100, 1, 0}, {2000, 1, 0}}, 2100,
			"stalled: fewer than 4 tokens in 2s"},
		{"no limits", Limits{}, []step{{100, 1, 0}, {100_000, 1, 0}}, 0, ""},
		{"no limit on the first token, but on what follows", Limits{Silence: 500 * ms}, []step{{100_000, 1, 0}}, 100_500,
			"stalled: silent for 500ms"},
		{"after its end a stream is not waited for as long as before", Limits{Silence: 5000 * ms, Floor: 1, Window: 300 * ms},
			[]step{{100, 1, 0}, {200, 0, 700 * ms}}, 900, "stalled: nothing more after the end of the answer"},
		{"nor for ever where there was no limit", Limits{}, []step{{100, 1, 0}, {200, 0, 700 * ms}}, 900,
			"stalled: nothing more after the end of the answer"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var at time.Duration
			var why error
			w := New(tt.limits, func(err error) {
				if why == nil {
					at, why = time.Since(start), err
				}
			})
			for _, s := range tt.steps {
				time.Sleep(time.Duration(s.at)*ms - time.Since(start))
				if s.tokens > 0 {
					w.Progress(s.tokens)
				}
				if s.finish > 0 {
					w.Finish(s.finish)
				}
			}
			time.Sleep(time.Hour)
			w.Stop()
			synctest.Wait()
			if at != time.Duration(tt.at)*ms || tt.at > 0 && why.Error() != tt.why {
				t.Errorf("%s: ended at %v by %v, want at %dms by %q", tt.reason, at, why, tt.at, tt.why)
			}
		})
	}
}

func TestWatchThatIsStoppedEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Limits{First: time.Second, Silence: time.Second, Floor: 9, Window: time.Second},
			func(err error) { t.Errorf("ended: %v", err) })
		w.Progress(1)
		w.Stop()
		time.Sleep(time.Hour)
	})
}
