package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// The defaults of a [RetryConfig], but for its retries.
const (
	defaultRetryWait     = 500 * time.Millisecond
	defaultMaxWait       = time.Minute
	defaultMaxRetryAfter = 5 * time.Minute
)

// A RetryConfig configures how often and how soon [Retry] tries again. The zero value retries twice, timeouts and
// failures counted together: first after half a second to one, then after one to two.
//
// Before retry k (counted from 0) it pauses for
//
//	min(Retry-After, MaxRetryAfter)             if the server asked for a pause
//	min(Wait·Factorᵏ, MaxWait) · (1 + Jitter·u) if it did not
//
// where u is uniform in [0, 1) and derived from the request's seed and k, so that a rerun waits as long. Wait is 0
// after an attempt that timed out, stalled or lost its connection: it has waited long enough, and the server is not
// known to be busy.
//
// The BaSE paper, and so [PaperRetry], pauses for five seconds before each retry, whatever the server asks for.
type RetryConfig struct {
	// Max bounds one request's retries after failures. 0 means DefaultRetries; negative means none.
	Max int
	// MaxStalls bounds its retries after attempts that timed out or stalled. 0 means that these count among Max instead;
	// negative means none.
	MaxStalls int
	// Wait is the pause before the first retry without Jitter, if there is one (see above). 0 means
	// half a second; negative means none.
	Wait time.Duration
	// Factor multiplies Wait from one retry to the next, at least 1. 0 means 2; 1 keeps all pauses equal.
	Factor float64
	// MaxWait bounds Wait·Factorᵏ. 0 means a minute, or Wait if that is longer.
	MaxWait time.Duration
	// Jitter lengthens each pause that the server did not ask for by up to this share of it, at most 1, so that requests
	// that failed together are not retried together. 0 means 1; negative means none.
	Jitter float64
	// Outage is how long requests wait for an endpoint that has answered before, while it refuses or loses connections,
	// as one does that restarts. A refused connection does not count among the retries meanwhile, nor does a lost one
	// once there are none left. 0 means that requests do not wait.
	Outage time.Duration
	// MaxRetryAfter bounds a server's Retry-After. 0 means 5 minutes; negative means that Retry-After is ignored.
	MaxRetryAfter time.Duration
	// Notice is told of each pause of more than ten seconds, how long it is and why, and once of each endpoint whose usage
	// has fewer prompt tokens than were sent. It may be called from several goroutines at once. nil means nobody.
	Notice func(text string)
}

// PaperRetry returns the configuration of the BaSE paper: up to two retries, five seconds apart. Unlike the paper's,
// there is no pause after an attempt that timed out or stalled.
func PaperRetry() RetryConfig {
	return RetryConfig{Wait: 5 * time.Second, Factor: 1, Jitter: -1, MaxRetryAfter: -1}
}

func (c RetryConfig) withDefaults() RetryConfig {
	c.Max = cmp.Or(c.Max, DefaultRetries)
	c.Wait = cmp.Or(c.Wait, defaultRetryWait)
	c.Factor = cmp.Or(c.Factor, 2)
	c.MaxWait = cmp.Or(c.MaxWait, max(defaultMaxWait, c.Wait))
	c.Jitter = cmp.Or(c.Jitter, 1)
	c.MaxRetryAfter = cmp.Or(c.MaxRetryAfter, defaultMaxRetryAfter)
	return c
}

func (c RetryConfig) validate() error {
	switch {
	case !(c.Factor >= 1) || math.IsInf(c.Factor, 0):
		return fmt.Errorf("llm: RetryConfig.Factor is %v: need a finite number of at least 1", c.Factor)
	case !(c.Jitter <= 1):
		return fmt.Errorf("llm: RetryConfig.Jitter is %v: need a number of at most 1", c.Jitter)
	case c.Outage < 0:
		return fmt.Errorf("llm: RetryConfig.Outage is %v: need 0 or more", c.Outage)
	case c.MaxWait < 0:
		return fmt.Errorf("llm: RetryConfig.MaxWait is %v: need a positive duration", c.MaxWait)
	}
	return nil
}

// pause returns the pause before retry k of a request with this seed, after err.
func (c RetryConfig) pause(seed uint32, k int, err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 && c.MaxRetryAfter > 0 {
		return min(e.RetryAfter, c.MaxRetryAfter)
	}
	if c.Wait < 0 || unanswered(err) {
		return 0
	}
	wait := min(float64(c.Wait)*math.Pow(c.Factor, float64(k)), float64(c.MaxWait))
	if c.Jitter > 0 {
		wait *= 1 + c.Jitter*stream.New(uint64(seed), "llm.Retry", uint64(k)).Float64()
	}
	return time.Duration(min(wait, math.MaxInt64/2))
}

// tell tells Notice of a long pause after err.
func (c RetryConfig) tell(pause time.Duration, err error) {
	if c.Notice == nil || pause <= 10*time.Second {
		return
	}
	text := fmt.Sprintf("waiting %v, until %s", pause.Round(time.Second), time.Now().Add(pause).Format("15:04:05 MST"))
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > pause {
		text += fmt.Sprintf(" (the endpoint asks for %v)", e.RetryAfter.Round(time.Second))
	}
	c.Notice(fmt.Sprintf("%s: %v", text, err))
}

// unanswered reports whether err means that a request brought no answer, rather than a refusal.
func unanswered(err error) bool {
	if s := StatusOf(err); s == Timeout || s == Stalled {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == KindConnection
}

// Retryable reports whether sending the same request again can help after err: its key, path or prompt was not refused,
// and it was not canceled. Rate limits, server errors, cut connections, broken replies, timeouts and stalls are
// retryable.
func Retryable(err error) bool {
	if err == nil || StatusOf(err) == Canceled || errors.Is(err, errUnsent) {
		return false
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return !e.Final() && !errors.Is(e.Err, ErrUnavailable)
	}
	return !errors.Is(err, ErrUnavailable)
}

// Retry returns an LLM that asks l again after an error that is [Retryable]. Reply.Attempts holds the
// attempts of all tries. The error is the last try's. Where the context ends during a pause, the call ends
// at once with the context's error. The Again of the context's [Trace] is called after the pause, before
// each try but the first.
//
// A refused connection is retried only if the endpoint has answered before: then the server may be restarting.
// Otherwise the address is probably wrong, and waiting would only delay the error.
//
// Retry panics if cfg holds a value that its comments exclude.
func Retry(l LLM, cfg RetryConfig) LLM {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		panic(err.Error())
	}
	return &retrying{l: l, cfg: cfg, windows: map[string]window{}}
}

type retrying struct {
	l        LLM
	cfg      RetryConfig
	answered atomic.Bool // whether l's endpoint ever answered

	mu      sync.Mutex
	gone    time.Time         // when it was first found gone since it answered last; zero if it is there
	windows map[string]window // by endpoint
}

func (r *retrying) Generate(ctx context.Context, req Request) (Reply, error) {
	var attempts []Attempt
	var t tries
	var last error
	var since time.Time
	for k := 0; ; k++ {
		reply, err := Send(ctx, r.l, req)
		attempts = append(attempts, reply.Attempts...)
		reply.Attempts = attempts
		r.note(err)
		switch {
		case err == nil:
			if len(attempts) > 0 {
				r.look(req, attempts[len(attempts)-1])
			}
			return reply, nil
		case errors.Is(err, errUnsent) && k > 0:
			return reply, notAgain(last, k, err)
		}
		last = err
		wait, waits := r.outage(err, &since)
		switch {
		case ctx.Err() == nil && waits && kindOf(err) == KindRefused: // which is no retry
		case ctx.Err() == nil && r.worthwhile(err) && t.take(err, r.cfg):
			wait = r.cfg.pause(req.Seed, t.failures+t.stalls-1, err)
		case ctx.Err() != nil || !waits:
			return reply, counted(err, k+1)
		}
		r.cfg.tell(wait, err)
		if gone := sleep(ctx, wait); gone != nil {
			return reply, fmt.Errorf("llm: gave up before retry %d (%v): %w", k+1, err, gone)
		}
		if no := TraceOf(ctx).Again(ctx, req); no != nil {
			return reply, notAgain(err, k+1, no)
		}
	}
}

// note records that the endpoint exists: it answered, if only with an HTTP error.
func (r *retrying) note(err error) {
	e, ok := errors.AsType[*Error](err)
	if err != nil && !(ok && (e.Code != 0 || e.Kind == KindBrokenReply)) {
		return
	}
	r.answered.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gone.IsZero() {
		slog.Warn("llm: the endpoint answers again", "after", time.Since(r.gone).Round(time.Second))
		r.gone = time.Time{}
	}
}

// outageWait is the longest pause between looks for an endpoint that is gone.
const outageWait = 5 * time.Second

// outage returns the pause before the next look for an endpoint that is gone, and whether to wait for it. since is when
// the request first found it gone. A request that loses its connection where others are answered meanwhile is the
// reason itself, perhaps.
func (r *retrying) outage(err error, since *time.Time) (wait time.Duration, waits bool) {
	kind := kindOf(err)
	if r.cfg.Outage == 0 || !r.answered.Load() || kind != KindRefused && kind != KindConnection {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if since.IsZero() {
		*since = now
	}
	if r.gone.IsZero() {
		r.gone = now
		slog.Warn("llm: the endpoint is gone; waiting for it", "most", r.cfg.Outage, "why", printable.Line(err.Error()))
	}
	passed := now.Sub(*since)
	return min(max(passed, defaultRetryWait), outageWait),
		passed < r.cfg.Outage && (kind == KindRefused || !r.gone.After(*since))
}

// kindOf returns the kind of an error of an endpoint, "" for any other.
func kindOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

func (r *retrying) worthwhile(err error) bool {
	return (kindOf(err) != KindRefused || r.answered.Load() && r.cfg.Outage == 0) && Retryable(err)
}

// Announces returns true, see the function [Announces].
func (r *retrying) Announces() bool { return true }

// Unwrap returns the LLM that is asked again.
func (r *retrying) Unwrap() LLM { return r.l }

func (r *retrying) String() string {
	return fmt.Sprintf("Retry(%v, %v)", r.l, r.cfg)
}

// String prints the configuration, defaults included.
func (c RetryConfig) String() string {
	c = c.withDefaults()
	s := fmt.Sprintf("max %d, %v apart", max(c.Max, 0), max(c.Wait, 0))
	if c.MaxStalls != 0 {
		s += fmt.Sprintf(", max %d stalls", max(c.MaxStalls, 0))
	}
	if c.Factor != 1 && c.Wait > 0 {
		s += fmt.Sprintf(", times %g up to %v", c.Factor, c.MaxWait)
	}
	if c.Jitter > 0 && c.Wait > 0 {
		s += fmt.Sprintf(", jitter %g", c.Jitter)
	}
	return s
}

// tries counts one request's retries.
type tries struct{ failures, stalls int }

// take counts one retry after err, or reports false if none is left.
func (t *tries) take(err error, cfg RetryConfig) bool {
	n, limit := &t.failures, cfg.Max
	if s := StatusOf(err); cfg.MaxStalls != 0 && (s == Timeout || s == Stalled) {
		n, limit = &t.stalls, cfg.MaxStalls
	}
	if *n >= limit {
		return false
	}
	*n++
	return true
}

// counted returns err with its number of attempts, if more than one.
func counted(err error, n int) error {
	if n == 1 {
		return err
	}
	return fmt.Errorf("%w (tried %d times)", err, n)
}

// notAgain returns the error of a call that failed n times and was not retried because of why.
func notAgain(last error, n int, why error) error {
	return fmt.Errorf("%w (not tried again: %w)", counted(last, n), why)
}

// sleep waits for d. It returns an error if ctx ends, or its Trace drains.
func sleep(ctx context.Context, d time.Duration) error {
	trace := TraceOf(ctx)
	if d > 0 {
		defer trace.Paused()()
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		case <-trace.Drain:
		}
	}
	return cmp.Or(ctx.Err(), trace.Draining())
}
