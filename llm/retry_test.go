package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// script is an LLM that fails with the given errors in order and then answers, and notes when it
// was asked. Each call makes one attempt.
type script struct {
	errs  []error
	start time.Time
	asked []time.Duration
}

func newScript(errs ...error) *script { return &script{errs: errs, start: time.Now()} }

func (s *script) Generate(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	n := len(s.asked)
	s.asked = append(s.asked, time.Since(s.start))
	if n < len(s.errs) {
		err := s.errs[n]
		a := llm.Attempt{Status: llm.StatusOf(err), MaxTokens: n, Err: err.Error()}
		return llm.Reply{Attempts: []llm.Attempt{a}}, err
	}
	return llm.Reply{Text: "ok", Attempts: []llm.Attempt{{Status: llm.OK, MaxTokens: n}}}, nil
}

func failed(kind string) error {
	return &llm.Error{Status: llm.Failed, Kind: kind, Code: 500, Err: errors.New(kind)}
}

func after(d time.Duration) error {
	return &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Code: 429, RetryAfter: d, Err: errors.New("slow down")}
}

func stalled(s llm.Status) error { return &llm.Error{Status: s, Err: errors.New(string(s))} }

// A retryCase says when a request is sent, if its attempts fail with errs in order.
type retryCase struct {
	reason string
	cfg    llm.RetryConfig
	errs   []error
	asked  []time.Duration
	ok     bool
}

func retryCases() []retryCase {
	server, timeout, stall := failed(llm.KindServer), stalled(llm.Timeout), stalled(llm.Stalled)
	refused := &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Err: errors.New("connection refused")}
	s := time.Second
	even := llm.RetryConfig{Wait: 5 * s, Factor: 1, Jitter: -1}
	return []retryCase{
		{"an answer is not asked for twice", llm.RetryConfig{}, nil, []time.Duration{0}, true},
		{"by default half a second, then one", llm.RetryConfig{Jitter: -1}, []error{server, server},
			[]time.Duration{0, s / 2, 3 * s / 2}, true},
		{"the paper's: two retries, 5 s apart", llm.PaperRetry(), []error{server, server}, []time.Duration{0, 5 * s, 10 * s},
			true},
		{"whatever the server asks for", llm.PaperRetry(), []error{after(s)}, []time.Duration{0, 5 * s}, true},
		{"then it gives up", llm.PaperRetry(), []error{server, server, server}, []time.Duration{0, 5 * s, 10 * s}, false},
		{"timeouts count among them by default", even, []error{timeout, server, timeout}, []time.Duration{0, 0, 5 * s},
			false},
		{"a negative Max means none", llm.RetryConfig{Max: -1}, []error{server}, []time.Duration{0}, false},
		{"a negative Wait means at once", llm.RetryConfig{Wait: -1}, []error{server, server}, []time.Duration{0, 0, 0}, true},
		{"stalls have their own limit: failures left over do not help them",
			llm.RetryConfig{MaxStalls: 1}, []error{stall, timeout}, []time.Duration{0, 0}, false},
		{"and do not use up the failures'",
			llm.RetryConfig{Max: 1, MaxStalls: 2, Wait: 5 * s, Factor: 1, Jitter: -1}, []error{stall, server, stall},
			[]time.Duration{0, 0, 5 * s, 5 * s}, true},
		{"stalls not retried at all", llm.RetryConfig{MaxStalls: -1}, []error{stall}, []time.Duration{0}, false},
		{"pauses double up to the cap",
			llm.RetryConfig{Max: 4, Wait: s, Jitter: -1, MaxWait: 3 * s}, []error{server, server, server, server},
			[]time.Duration{0, s, 3 * s, 6 * s, 9 * s}, true},
		{"a factor whose power overflows stays at the cap",
			llm.RetryConfig{Max: 2, Wait: s, Factor: math.MaxFloat64, Jitter: -1, MaxWait: s}, []error{server, server},
			[]time.Duration{0, s, 2 * s}, true},
		{"Retry-After is the pause where it is longer", llm.RetryConfig{}, []error{after(7 * s)}, []time.Duration{0, 7 * s},
			true},
		{"and where it is shorter", llm.RetryConfig{Wait: 5 * s}, []error{after(s)}, []time.Duration{0, s}, true},
		{"each time", llm.RetryConfig{}, []error{after(s), after(2 * s)}, []time.Duration{0, s, 3 * s}, true},
		{"but is bounded", llm.RetryConfig{Wait: s, MaxRetryAfter: 4 * s}, []error{after(time.Hour)},
			[]time.Duration{0, 4 * s}, true},
		{"by five minutes if nothing else is said", llm.RetryConfig{}, []error{after(time.Hour)}, []time.Duration{0, 300 * s},
			true},
		{"or not heeded", llm.RetryConfig{Wait: s, Jitter: -1, MaxRetryAfter: -1}, []error{after(time.Hour)},
			[]time.Duration{0, s}, true},
		{"a rejected key is final", llm.RetryConfig{}, []error{failed(llm.KindAuth)}, []time.Duration{0}, false},
		{"an unknown model is final", llm.RetryConfig{}, []error{failed(llm.KindNotFound)}, []time.Duration{0}, false},
		{"a prompt that does not fit is final", llm.RetryConfig{}, []error{failed(llm.KindContextLength)}, []time.Duration{0},
			false},
		{"a bad request is final", llm.RetryConfig{}, []error{failed(llm.KindBadRequest)}, []time.Duration{0}, false},
		{"a broken reply is worth another try", even, []error{failed(llm.KindBrokenReply)}, []time.Duration{0, 5 * s}, true},
		{"a reset connection is worth another try, at once", llm.RetryConfig{}, []error{failed(llm.KindConnection)},
			[]time.Duration{0, 0}, true},
		{"a stall in a server that asks to wait", llm.RetryConfig{},
			[]error{&llm.Error{Status: llm.Stalled, RetryAfter: 3 * s, Err: errors.New("silence")}}, []time.Duration{0, 3 * s},
			true},
		{"a deadline of another make is a stall", llm.RetryConfig{}, []error{context.DeadlineExceeded}, []time.Duration{0, 0},
			true},
		{"refused after a cut: the server restarts", even, []error{server, failed(llm.KindConnection), refused},
			[]time.Duration{0, 5 * s, 5 * s}, false},
		{"refused from the start is a wrong address", llm.RetryConfig{}, []error{refused}, []time.Duration{0}, false},
		{"refused later may be a restart", even, []error{server, refused}, []time.Duration{0, 5 * s, 10 * s}, true},
		{"an error of another make is retried", even, []error{errors.New("odd")}, []time.Duration{0, 5 * s}, true},
		{"unless it says that nothing will help", llm.RetryConfig{}, []error{fmt.Errorf("no GPU: %w", llm.ErrUnavailable)},
			[]time.Duration{0}, false},
	}
}

func TestRetryWhenAndHowOften(t *testing.T) {
	for _, tt := range retryCases() {
		synctest.Test(t, func(t *testing.T) {
			l := newScript(tt.errs...)
			reply, err := llm.Retry(l, tt.cfg).Generate(t.Context(), llm.Request{Seed: 1})
			if (err == nil) != tt.ok {
				t.Errorf("%s: error %v", tt.reason, err)
			}
			if fmt.Sprint(l.asked) != fmt.Sprint(tt.asked) {
				t.Errorf("%s: asked at %v, want %v", tt.reason, l.asked, tt.asked)
			}
			for i, a := range reply.Attempts {
				if a.MaxTokens != i {
					t.Errorf("%s: attempt %d stands at %d", tt.reason, a.MaxTokens, i)
				}
			}
			if len(reply.Attempts) != len(tt.asked) {
				t.Errorf("%s: %d attempts recorded, %d made", tt.reason, len(reply.Attempts), len(tt.asked))
			}
		})
	}
}

func TestRetryLastErrorStaysInspectable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newScript(failed(llm.KindServer), failed(llm.KindServer), after(time.Second))
		_, err := llm.Retry(l, llm.RetryConfig{}).Generate(t.Context(), llm.Request{})
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != llm.KindRateLimit || !strings.Contains(err.Error(), "tried 3 times") {
			t.Errorf("error %v, want the last one, saying how often it was tried", err)
		}
	})
}

func TestRetryJitterFollowsFromTheSeed(t *testing.T) {
	run := func(seed uint32) (asked []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			l := newScript(failed(llm.KindServer), failed(llm.KindServer))
			if _, err := llm.Retry(l, llm.RetryConfig{Wait: 5 * time.Second, Jitter: 0.5}).Generate(t.Context(),
				llm.Request{Seed: seed}); err != nil {
				t.Error(err)
			}
			asked = l.asked
		})
		return asked
	}
	a, again, b := run(7), run(7), run(8)
	if fmt.Sprint(a) != fmt.Sprint(again) {
		t.Errorf("seed 7 waited %v, then %v", a, again)
	}
	if fmt.Sprint(a) == fmt.Sprint(b) {
		t.Errorf("seeds 7 and 8 both waited %v", a)
	}
	for _, asked := range [][]time.Duration{a, b} {
		if p := asked[1]; p < 5*time.Second || p > 7500*time.Millisecond {
			t.Errorf("first pause %v, want between 5s and half as much again", p)
		}
		if p := asked[2] - asked[1]; p < 10*time.Second || p > 15*time.Second {
			t.Errorf("second pause %v, want between 10s and 15s", p)
		}
	}
}

func TestRetryWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("target reached"))
		defer cancel()
		l := newScript(failed(llm.KindServer))
		reply, err := llm.Retry(l, llm.PaperRetry()).Generate(ctx, llm.Request{})
		if got := time.Since(l.start); got != time.Second {
			t.Errorf("returned after %v, want 1s", got)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), llm.KindServer) {
			t.Errorf("error %v, want the context's, with what went wrong before", err)
		}
		if len(reply.Attempts) != 1 {
			t.Errorf("%d attempts, want the one that was paid for", len(reply.Attempts))
		}
	})
}

func TestRetryAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, asked := newScript(failed(llm.KindServer), failed(llm.KindBrokenReply)), 0
		ctx := llm.WithTrace(t.Context(), &llm.Trace{Again: func(_ context.Context, req llm.Request) error {
			if asked++; asked == 2 {
				return fmt.Errorf("no room for seed %d", req.Seed)
			}
			return nil
		}})
		reply, err := llm.Retry(l, llm.RetryConfig{Max: 5}).Generate(ctx, llm.Request{Seed: 3})
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != llm.KindBrokenReply || !strings.Contains(err.Error(), "no room for seed 3") {
			t.Errorf("error %v, want that of the attempt before, and the refusal in words", err)
		}
		if asked != 2 || len(l.asked) != 2 || len(reply.Attempts) != 2 {
			t.Errorf("Again called %d times for %d tries, %d attempts; want 2, 2, 2", asked, len(l.asked), len(reply.Attempts))
		}
	})
}

func TestRetryRejects(t *testing.T) {
	for _, tt := range []struct {
		reason string
		cfg    llm.RetryConfig
	}{
		{"pauses that shrink", llm.RetryConfig{Factor: 0.5}},
		{"a factor that is no number", llm.RetryConfig{Factor: math.NaN()}},
		{"an infinite factor", llm.RetryConfig{Factor: math.Inf(1)}},
		{"jitter that is no number", llm.RetryConfig{Jitter: math.NaN()}},
		{"jitter beyond the pause itself", llm.RetryConfig{Jitter: 1.1}},
		{"a negative cap", llm.RetryConfig{MaxWait: -1}},
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "llm: RetryConfig.") {
					t.Errorf("%s: panic %q, want one that names the field", tt.reason, s)
				}
			}()
			llm.Retry(llm.Func(nil), tt.cfg)
		}()
	}
}

// What has answered and is gone is waited for; a lost connection counts among the retries before that.
func TestOutage(t *testing.T) {
	refused := &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Err: errors.New("connection refused")}
	reset := &llm.Error{Status: llm.Failed, Kind: llm.KindConnection, Err: errors.New("reset")}
	server := &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Code: 500, Err: errors.New("busy")}
	for reason, tt := range map[string]struct {
		before   bool // whether it has answered
		gone     time.Duration
		with     *llm.Error
		outage   time.Duration
		ok       bool
		attempts int // 0: any
	}{
		"it restarts":                     {true, 3 * time.Minute, refused, 5 * time.Minute, true, 0},
		"its proxy resets":                {true, 3 * time.Minute, reset, 5 * time.Minute, true, 0},
		"it is gone for good":             {true, time.Hour, refused, 5 * time.Minute, false, 0},
		"it was never there":              {false, time.Minute, refused, 5 * time.Minute, false, 1},
		"it is there and has no room":     {true, time.Minute, server, 5 * time.Minute, false, 3},
		"nobody wants to wait":            {true, time.Minute, refused, 0, false, 3},
		"only others are answered though": {true, time.Hour, reset, time.Hour, false, 4},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := time.Now()
				if !tt.before {
					up = up.Add(tt.gone)
				}
				l := llm.Retry(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
					if req.Seed == 7 || !time.Now().Before(up) {
						return llm.Reply{Text: "ok", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
					}
					return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed}}}, tt.with
				}), llm.RetryConfig{Outage: tt.outage})
				if tt.before {
					if _, err := l.Generate(t.Context(), llm.Request{}); err != nil {
						t.Fatal(err)
					}
				}
				up = time.Now().Add(tt.gone)
				began := time.Now()
				if strings.HasPrefix(reason, "only others") {
					go func() {
						time.Sleep(100 * time.Millisecond)
						_, _ = l.Generate(t.Context(), llm.Request{Seed: 7})
					}()
				}
				reply, err := l.Generate(t.Context(), llm.Request{})
				if (err == nil) != tt.ok || tt.attempts > 0 && len(reply.Attempts) != tt.attempts {
					t.Errorf("%d attempts, %v", len(reply.Attempts), err)
				}
				if took := time.Since(began); took > max(tt.outage, time.Minute)+10*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
