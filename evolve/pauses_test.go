package evolve_test

import (
	"testing"
	"testing/synctest"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// pausing makes a steady-state search of 64 children at an endpoint that turns away a share of all attempts.
func pausing(t *testing.T, path string, window int, order evolve.Order, model llm.LLM) *evolve.Result {
	cfg := evolve.Config{Budget: evolve.Budget{Calls: 64}, Arms: []evolve.Arm{newGreedy(t, evolve.GreedyConfig{
		Task: newNumbers(t, "0"), LLM: llm.Retry(model, llm.RetryConfig{}), N: 64, Window: window, Order: order, Seed: 40,
		MaxGenerations: 1,
	})}}
	if path != "" {
		j := openJournal(t, path)
		defer j.Close()
		cfg.Journal = j
	}
	return mustRun(t, cfg)
}

// A child that pauses before a retry leaves its place in the window to another, up to a window of them, and only where
// the order is recorded anyway.
func TestPausesFreeTheWindow(t *testing.T) {
	for _, tt := range []struct {
		reason string
		window int
		order  evolve.Order
		share  float64
		least  int // children asked for and not answered, at the most
		most   int
	}{
		{"no pause", 4, evolve.AsTheyEnd, 0, 4, 4},
		{"some pause", 4, evolve.AsTheyEnd, 0.3, 5, 7},
		{"all pause: others would be turned away, too", 4, evolve.AsTheyEnd, 1, 7, 7},
		{"a window of 1 asks for one child after the other", 1, evolve.AsTheyEnd, 0.3, 1, 1},
		{"by index, what a brief knows must not depend on pauses", 4, evolve.ByIndex, 0.3, 4, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			model := newBusyModel(tt.share, overloaded)
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: llm.Retry(model, llm.RetryConfig{}), N: 24,
				Window: tt.window,
				Order:  tt.order, Seed: 40, MaxGenerations: 1})
			_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 64}})
			if never := tt.share == 1; (err != nil) != never { // a run that is never answered ends with an error
				t.Errorf("%s: %v", tt.reason, err)
			}
			if model.most < tt.least || model.most > tt.most {
				t.Errorf("%s: %d children under way at once with a window of %d, want %d to %d", tt.reason, model.most, tt.window,
					tt.least, tt.most)
			}
		})
	}
}

// A journal has which children were begun because others paused. Cut off anywhere, it is gone on with, and each answer
// that it holds is asked for again.
func TestPausesAreReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		first := newBusyModel(0.3, overloaded)
		was := pausing(t, path, 4, evolve.AsTheyEnd, first)
		beyond := 0
		for _, r := range records(t, path, record.Taken) {
			if *r.Child == record.Beyond {
				beyond++
			}
		}
		if beyond < 5 {
			t.Fatalf("%d children begun beyond the window: the test sees nothing", beyond)
		}
		for cut := range killtest.Every(t, path, 5, 61) {
			again := newBusyModel(0.3, overloaded)
			res := pausing(t, cut.Path, 4, evolve.AsTheyEnd, again)
			if n := len(res.Earlier.Unclaimed); n > 0 || res.Stop != was.Stop || len(res.Arms[0].Generations) != 1 {
				t.Errorf("cut after %d of %d lines: stopped by %s, and %d answers were not asked for again", cut.Records, cut.Of,
					res.Stop, n)
			}
			if cut.Records == cut.Of && (len(again.sent) > 0 || res.Best.Program != was.Best.Program) {
				t.Errorf("the whole journal: %d children asked for again, and the best is %q after %q", len(again.sent),
					res.Best.Program, was.Best.Program)
			}
		}
	})
}
