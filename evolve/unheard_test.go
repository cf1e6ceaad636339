package evolve_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// A run whose endpoint never answers ends after two calls with their retries, and says why and what to do.
func TestEndpointThatNeverAnswers(t *testing.T) {
	for _, tt := range []struct {
		reason string
		fault  llmtest.Fault
		says   string // of what the endpoint said
		remedy string
	}{
		{"an error of the server", "500", "500", "log of the endpoint"},
		{"too busy, and it does not say for how long", "429", "429", "fewer calls in flight"},
		{"a page of a proxy", "html 200", "HTML", "/chat/completions"},
		{"a reply that ends early", "malformed JSON", "JSON", "/chat/completions"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			srv, l := connect(t, llmtest.Config{Fault: func(llmtest.Request) llmtest.Fault { return tt.fault }}, llm.Models()[0],
				1, llm.RetryConfig{Wait: time.Microsecond})
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 1})
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 8}})
			if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.remedy) ||
				res.Stop != evolve.StopError {
				t.Errorf("%v: %v, want %q and %q in it", res.Stop, err, tt.says, tt.remedy)
			}
			if got := srv.Stats().Calls; got != 6 {
				t.Errorf("%d attempts, want 6", got)
			}
		})
	}
}

// An endpoint that is busy, slow or picky is not taken for a broken one.
func TestEndpointThatAnswersLate(t *testing.T) {
	var asked atomic.Int64
	for _, tt := range []struct {
		reason  string
		n       int           // children of a step
		wait    time.Duration // before a retry: time for all calls to begin, on a busy machine too
		latency time.Duration
		fault   func(llmtest.Request) llmtest.Fault
	}{
		{"it says when to come back, to 20 attempts", 1, time.Microsecond, 0, func(llmtest.Request) llmtest.Fault {
			if asked.Add(1) <= 20 {
				return "429 retry-after"
			}
			return ""
		}},
		{"it comes up while the first call is tried again", 1, time.Microsecond, 0, llmtest.Must("500:2")},
		{"most are refused at once while the first answers are written", 16, 500 * time.Millisecond, 50 * time.Millisecond,
			func(r llmtest.Request) llmtest.Fault {
				if r.Seed%4 > 0 && r.Occurrence < 2 {
					return "500"
				}
				return ""
			}},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			_, l := connect(t, llmtest.Config{Reply: improve, Fault: tt.fault, Latency: llmtest.Constant(tt.latency)},
				llm.Models()[0], 16, llm.RetryConfig{Wait: tt.wait, MaxRetryAfter: time.Microsecond})
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: tt.n})
			res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 16}})
			if err != nil || res.Calls != 16 {
				t.Errorf("%d calls answered, want 16: %v", res.Calls, err)
			}
		})
	}
}

// Mended, a run that was never answered goes on, and the calls that failed are made again.
func TestNeverAnsweredGoesOn(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	srv, l := connect(t, llmtest.Config{Reply: improve, Fault: func(llmtest.Request) llmtest.Fault {
		if broken.Load() {
			return "500"
		}
		return ""
	}}, llm.Models()[0], 1, llm.RetryConfig{Wait: time.Microsecond})
	path := journalPath(t)
	for _, want := range []struct{ calls, attempts int }{{0, 6}, {0, 12}, {8, 20}} {
		j := openJournal(t, path)
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 2})
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 8}, Journal: j})
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if got := srv.Stats().Calls; (err != nil) != (want.calls == 0) || res.Calls != want.calls || got != want.attempts {
			t.Errorf("%d calls answered and %d attempts in all, want %d and %d: %v", res.Calls, got, want.calls, want.attempts,
				err)
		}
		broken.Store(want.attempts < 12)
	}
}
