package llm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// A stack is a way to put combinators around models.
type stack struct {
	reason string
	l      llm.LLM
	// several says that a model which does not announce its attempts makes several in one call, which
	// can only be announced together.
	several bool
}

// every returns a model that fails every third time.
func every() llm.LLM {
	var n atomic.Int64
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		k := n.Add(1)
		a := llm.Attempt{Status: llm.OK, MaxTokens: int(k)}
		if k%3 == 0 {
			a.Status, a.Kind, a.Err = llm.Failed, llm.KindServer, "500"
			return llm.Reply{Attempts: []llm.Attempt{a}}, &llm.Error{Status: a.Status, Kind: a.Kind, Err: errors.New(a.Err)}
		}
		return llm.Reply{Text: "ok", Attempts: []llm.Attempt{a}}, nil
	})
}

// A closed LLM does not show what it wraps.
type closed struct{ llm.LLM }

// An open one does.
type open struct{ llm.LLM }

func (o open) Unwrap() llm.LLM { return o.LLM }

// faulty returns a client of an endpoint that fails in every way that ends at once, and refuses a stream's
// options until it is asked without.
func faulty(t *testing.T, whole bool) llm.LLM {
	faults := []llmtest.Fault{"", "500", "400 stream_options", "400 stream", "cut body", "503", "no choices", "reset",
		"401"}
	srv := llmtest.NewServer(llmtest.Config{Fault: func(r llmtest.Request) llmtest.Fault { return faults[r.Seed%uint32(len(faults))] }})
	t.Cleanup(srv.Close)
	client, err := openai.New(openai.Config{Seed: true, BaseURL: srv.URL, Model: llm.Model{Key: "m"}, Whole: whole})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func sharing(t *testing.T, models ...llm.LLM) llm.LLM {
	// Where only calls are left that fail whenever they are sent, each probe doubles the quarantine, to minutes.
	cfg := pool.Config{Slots: 2, Quarantine: time.Millisecond, MaxWait: 50 * time.Millisecond}
	for i, l := range models {
		cfg.Endpoints = append(cfg.Endpoints, pool.Endpoint{Name: fmt.Sprint("gpu", i), LLM: l})
	}
	p, err := pool.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func stacks(t *testing.T) []stack {
	again := llm.RetryConfig{Max: 2, Wait: -1}
	model, err := offline.New(offline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	whole, streamed := faulty(t, true), faulty(t, false)
	return []stack{
		{"a function", every(), false},
		{"a limit", llm.Limit(every(), 2), false},
		{"limits within limits", llm.Limit(llm.Limit(every(), 2), 4), false},
		{"attempts again through a limit", llm.Retry(llm.Limit(every(), 2), again), false},
		{"attempts again without one", llm.Retry(every(), again), false},
		{"attempts again within a limit", llm.Limit(llm.Retry(every(), again), 2), false},
		{"attempts again of attempts again", llm.Retry(llm.Retry(every(), again), again), false},
		{"a pool", sharing(t, every(), every()), false},
		{"a limit around a pool", llm.Limit(sharing(t, every(), every()), 3), false},
		{"a pool of what has queues", llm.Retry(sharing(t, llm.Limit(every(), 1), every()), again), false},
		{"a wrapper that shows what it wraps", llm.Limit(open{llm.Retry(llm.Limit(every(), 2), again)}, 4), false},
		{"a wrapper that does not", llm.Limit(closed{llm.Retry(llm.Limit(every(), 2), again)}, 4), true},
		{"the offline model", llm.Retry(llm.Limit(model, 2), again), false},
		{"a client alone", whole, false},
		{"a client that streams alone", streamed, false},
		{"a client in a limit", llm.Retry(llm.Limit(whole, 2), again), false},
		{"a client that streams in a limit", llm.Retry(llm.Limit(streamed, 2), again), false},
		{"clients in a pool", llm.Retry(sharing(t, whole, streamed), again), false},
	}
}

// An announced call is what one call's Trace was told.
type announced struct {
	mu      sync.Mutex
	sending bool
	sends   int
	refuse  int // the Send that says no, from 1; 0: none
	ended   []llm.Attempt
	wrong   []string
}

var errNoMore = errors.New("no more")

func (a *announced) trace() *llm.Trace {
	return &llm.Trace{
		Send: func(string) error {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.sending {
				a.wrong = append(a.wrong, "sent before the attempt before had ended")
			}
			a.sends++
			if a.sends == a.refuse {
				return errNoMore
			}
			a.sending = true
			return nil
		},
		Ended: func(attempts []llm.Attempt) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if !a.sending {
				a.wrong = append(a.wrong, "ended without being sent")
			}
			a.sending = false
			a.ended = append(a.ended, attempts...)
		},
	}
}

// In whatever order combinators stand around a model, each attempt is announced once and ends once, and the
// attempts of a call follow one another.
func TestEachAttemptIsAnnouncedOnce(t *testing.T) {
	for _, s := range stacks(t) {
		for refuse := range 3 { // none, the first Send, the second
			var wg sync.WaitGroup
			for seed := range uint32(16) {
				wg.Go(func() { s.check(t, seed, refuse) })
			}
			wg.Wait()
		}
	}
}

func (s stack) check(t *testing.T, seed uint32, refuse int) {
	a := &announced{refuse: refuse}
	reply, err := llm.Send(llm.WithTrace(t.Context(), a.trace()), s.l, say("```js\nx = 1\n```", seed))
	if a.sending {
		a.wrong = append(a.wrong, "not ended")
	}
	for _, wrong := range a.wrong {
		t.Errorf("%s, seed %d: %s", s.reason, seed, wrong)
	}
	if diff := cmp.Diff(reply.Attempts, a.ended); diff != "" {
		t.Errorf("%s, seed %d: attempts of the reply and those that ended (-reply +ended):\n%s", s.reason, seed, diff)
	}
	sent := a.sends
	if refused := refuse > 0 && a.sends >= refuse; refused {
		if sent--; !errors.Is(err, errNoMore) || llm.Retryable(err) || a.sends > refuse {
			t.Errorf("%s, seed %d: error %v after %d Sends, of which the %d. was refused: want no other, and the reason",
				s.reason, seed, err, a.sends, refuse)
		}
	}
	if len(a.ended) != sent && !s.several {
		t.Errorf("%s, seed %d: %d attempts announced one by one, %d made", s.reason, seed, sent, len(a.ended))
	}
}
