package pool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// firstQuarantine is how long an endpoint is out first, by default.
const firstQuarantine = 5 * time.Second

// replica is an endpoint that takes a second a call, unless it is told otherwise, and counts.
type replica struct {
	mu        sync.Mutex
	do        func(llm.Request) error // what becomes of a call; nil means that it is answered
	took      time.Duration           // for a call
	seeds     []uint32                // of the calls, as they came
	now, most int
}

func (r *replica) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	r.mu.Lock()
	r.seeds = append(r.seeds, req.Seed)
	r.now++
	r.most = max(r.most, r.now)
	do, took := r.do, r.took
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.now--
		r.mu.Unlock()
	}()
	if took == 0 {
		took = time.Second
	}
	var err error
	select {
	case <-time.After(took):
		if do != nil {
			err = do(req)
		}
	case <-ctx.Done():
		err = &llm.Error{Status: llm.Canceled, Err: ctx.Err()}
	}
	a := llm.Attempt{Status: llm.StatusOf(err), Latency: took}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		a.Kind, a.Err = e.Kind, e.Err.Error()
	}
	return llm.Reply{Text: "ok", Attempts: []llm.Attempt{a}}, err
}

func (r *replica) become(do func(llm.Request) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.do = do
}

func (r *replica) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seeds)
}

func (r *replica) String() string { return "replica" }

func always(err error) func(llm.Request) error { return func(llm.Request) error { return err } }

func failed(kind string) error {
	return &llm.Error{Status: llm.Failed, Kind: kind, Code: 500, Err: errors.New(kind)}
}

func after(d time.Duration) error {
	return &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Code: 429, RetryAfter: d, Err: errors.New("slow down")}
}

func stalled(s llm.Status) error { return &llm.Error{Status: s, Err: errors.New(string(s))} }

var (
	errStall   = stalled(llm.Stalled)
	errServer  = failed(llm.KindServer)
	errResting = &llm.Error{Status: llm.Failed, Kind: llm.KindServer, RetryAfter: firstQuarantine,
		Err: errors.New("server")}
	errRefused = &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Err: errors.New("connection refused")}
	errKey     = &llm.Error{Status: llm.Failed, Kind: llm.KindAuth, Code: 401, Err: errors.New("the key was rejected")}
)

// newPool makes a pool of replicas named a, b, c, ...
func newPool(t *testing.T, cfg pool.Config, replicas ...*replica) *pool.Pool {
	t.Helper()
	for i, r := range replicas {
		cfg.Endpoints = append(cfg.Endpoints, pool.Endpoint{Name: string(rune('a' + i)), LLM: r})
	}
	p, err := pool.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// first gives the prompt for which the named endpoint comes first in p, whose endpoints are idle.
func first(t *testing.T, p *pool.Pool, replicas []*replica, name string) string {
	t.Helper()
	want := replicas[name[0]-'a']
	for i := range 1000 {
		prompt := fmt.Sprint("prompt ", i)
		before := want.calls()
		if _, err := p.Generate(t.Context(), say(prompt, 0)); err != nil {
			t.Fatal(err)
		}
		if want.calls() > before {
			return prompt
		}
	}
	t.Fatalf("no prompt of a thousand goes to %s first", name)
	return ""
}

func endpointsOf(attempts []llm.Attempt) string {
	var b strings.Builder
	for _, a := range attempts {
		fmt.Fprintf(&b, "%s:%s ", a.Endpoint, a.Status)
	}
	return strings.TrimSpace(b.String())
}

func TestPoolServesWhoCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{}
		p := newPool(t, pool.Config{Slots: 1}, a)
		var wg sync.WaitGroup
		for i := range 20 {
			time.Sleep(time.Millisecond)
			wg.Go(func() {
				ctx := t.Context()
				if i == 7 { // one gives up before it is its turn
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 3*time.Second)
					defer cancel()
				}
				reply, err := p.Generate(ctx, say(fmt.Sprint(i), uint32(i)))
				if i == 7 && (!errors.Is(err, context.DeadlineExceeded) || len(reply.Attempts) != 0) {
					t.Errorf("who gave up got %v, %v", reply, err)
				}
			})
		}
		wg.Wait()
		if want := []uint32{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}; !slices.Equal(a.seeds, want) {
			t.Errorf("served %v", a.seeds)
		}
	})
}

func TestPoolKeepsToItsPlacesAndFillsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &replica{}, &replica{}
		p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{
			{Name: "a", LLM: a, Slots: 6}, {Name: "b", LLM: b, Slots: 2}}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 80 {
			wg.Go(func() { p.Generate(t.Context(), say("one parent", uint32(i))) })
		}
		wg.Wait()
		if a.most != 6 || b.most != 2 {
			t.Errorf("%d and %d in flight, want 6 and 2", a.most, b.most)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("80 calls took %v, want 10s: no slot stays empty", took)
		}
	})
}

func TestPoolLoadIsBounded(t *testing.T) {
	for _, tt := range []struct {
		reason      string
		replicas, m int
		want        []int // in flight, most first, of m calls with one prompt
	}{
		{"none is idle while another has two", 2, 2, []int{1, 1}},
		{"a quarter more than the mean", 2, 16, []int{10, 6}},
		{"of three, the second is filled before the third", 3, 30, []int{12, 12, 6}},
	} {
		synctest.Test(t, func(t *testing.T) {
			replicas := make([]*replica, tt.replicas)
			for i := range replicas {
				replicas[i] = &replica{}
			}
			p := newPool(t, pool.Config{}, replicas...)
			var wg sync.WaitGroup
			for i := range tt.m {
				wg.Go(func() { p.Generate(t.Context(), say("one parent", uint32(i))) })
			}
			synctest.Wait()
			var got []int
			for _, e := range p.Report().Endpoints {
				got = append(got, e.InFlight)
			}
			slices.SortFunc(got, func(a, b int) int { return b - a })
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v in flight, want %v", tt.reason, got, tt.want)
			}
			wg.Wait()
		})
	}
}

// Prompts come back to their endpoint, in another process too, and spread by slots. With n prompts
// and chance q of endpoint a, its count has a standard deviation of √(n·q·(1-q)); the bound is five.
func TestPoolAffinity(t *testing.T) {
	const n = 2000
	where := make([]string, n)
	for life := range 2 {
		replicas := []*replica{{took: 1}, {took: 1}, {took: 1}}
		p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{
			{Name: "a", LLM: replicas[0], Slots: 8}, {Name: "b", LLM: replicas[1], Slots: 4},
			{Name: "c", LLM: replicas[2], Slots: 4}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			reply, err := p.Generate(t.Context(), say(fmt.Sprint("parent ", i), uint32(life)))
			if err != nil {
				t.Fatal(err)
			}
			at := reply.Attempts[0].Endpoint
			if life == 1 && where[i] != at {
				t.Fatalf("prompt %d went to %s, then to %s", i, where[i], at)
			}
			where[i] = at
		}
		for i, q := range []float64{0.5, 0.25, 0.25} {
			if d := float64(replicas[i].calls()) - n*q; d*d > 25*n*q*(1-q) {
				t.Errorf("endpoint %d got %d of %d prompts, want about %v", i, replicas[i].calls(), n, n*q)
			}
		}
	}
}

func TestPoolSendsOn(t *testing.T) {
	for _, tt := range []struct {
		reason    string
		a, b      error // what endpoints a (first) and b do
		attempts  string
		text      string // of the error; "" means none
		final     bool   // the error is the first endpoint's own
		available bool
	}{
		{"a stall", errStall, nil, "a:stalled b:ok", "", false, true},
		{"a timeout", stalled(llm.Timeout), nil, "a:timeout b:ok", "", false, true},
		{"a server's fault", errServer, nil, "a:error b:ok", "", false, true},
		{"an endpoint that is not there", errRefused, nil, "a:error b:ok", "", false, true},
		{"a key that is good elsewhere", errKey, nil, "a:error b:ok", "", false, true},
		{"a request that is bad everywhere", failed(llm.KindBadRequest), nil, "a:error", "bad_request", true, true},
		{"a prompt that fits nowhere", failed(llm.KindContextLength), nil, "a:error", "context_length", true, true},
		{"both fail: the last error, and where it was sent", errStall, errServer, "a:stalled b:error",
			"server (sent to a, b)", false, true},
		{"one gone, one failing: another call may do better", errRefused, errServer, "a:error b:error",
			"server (sent to a, b)", false, true},
		{"the same the other way round", errServer, errKey, "a:error b:error", "server (sent to a, b)", false, true},
		{"both gone: each is named", errRefused, errKey, "a:error b:error",
			"pool: none of the endpoints can be used: a: connection refused; b: the key was rejected", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			replicas := []*replica{{}, {}}
			p := newPool(t, pool.Config{}, replicas...)
			prompt := first(t, p, replicas, "a")
			p = newPool(t, pool.Config{}, replicas...) // one to which nobody has ever answered
			replicas[0].become(always(tt.a))
			replicas[1].become(always(tt.b))
			reply, err := p.Generate(t.Context(), say(prompt, 1))
			if got := endpointsOf(reply.Attempts); got != tt.attempts {
				t.Errorf("%s: attempts %s, want %s", tt.reason, got, tt.attempts)
			}
			if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: error %v, want %q", tt.reason, err, tt.text)
			}
			if llm.Unavailable(err) == tt.available {
				t.Errorf("%s: Unavailable is %v", tt.reason, !tt.available)
			}
			if tt.final && err != tt.a {
				t.Errorf("%s: error %v is not the endpoint's own", tt.reason, err)
			}
		})
	}
}

// A wrong address is found out in no time, whatever the number of calls that meet it.
func TestPoolAllGoneFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replicas := []*replica{{do: always(errRefused), took: time.Millisecond},
			{do: always(errRefused), took: 3 * time.Millisecond}}
		p := newPool(t, pool.Config{Slots: 4}, replicas...)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				_, err := p.Generate(t.Context(), say("x", uint32(i)))
				if !llm.Unavailable(err) || !strings.Contains(err.Error(), "a: connection refused; b: connection refused") {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait()
		if took, n := time.Since(start), replicas[0].calls()+replicas[1].calls(); took > 10*time.Millisecond || n > 8 {
			t.Errorf("took %v and %d attempts", took, n)
		}
		before := replicas[0].calls() + replicas[1].calls()
		if _, err := p.Generate(t.Context(), say("x", 1)); !llm.Unavailable(err) {
			t.Errorf("a later call: %v", err)
		}
		if replicas[0].calls()+replicas[1].calls() != before {
			t.Error("a later call knocked again before a probe was due")
		}
		time.Sleep(firstQuarantine)
		replicas[1].become(nil)
		if _, err := p.Generate(t.Context(), say("x", 2)); err != nil {
			t.Errorf("once one is back: %v", err)
		}
	})
}

// A server that was there and refuses connections may be restarting: who does not probe waits.
func TestPoolWaitsForARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{}
		p := newPool(t, pool.Config{MaxWait: time.Minute, Tries: 3}, a)
		if _, err := p.Generate(t.Context(), say("x", 0)); err != nil {
			t.Fatal(err)
		}
		a.become(always(errRefused))
		time.AfterFunc(12*time.Second, func() { a.become(nil) })
		var wg sync.WaitGroup
		for i := range 5 {
			time.Sleep(time.Millisecond)
			wg.Go(func() {
				reply, err := p.Generate(t.Context(), say("x", uint32(i)))
				want := "a:error a:ok"
				if i == 0 { // whose second attempt was the probe at 6 s that found it still away
					want = "a:error a:error a:ok"
				}
				if got := endpointsOf(reply.Attempts); err != nil || got != want {
					t.Errorf("call %d: %s, %v; want %s", i, got, err, want)
				}
			})
		}
		wg.Wait()
	})
}

func TestPoolRestartThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{}
		p := newPool(t, pool.Config{MaxWait: time.Minute, Tries: 2}, a)
		if _, err := p.Generate(t.Context(), say("x", 0)); err != nil {
			t.Fatal(err)
		}
		a.become(always(errRefused))
		start := time.Now()
		var wg sync.WaitGroup
		var gone, probes atomic.Int64
		for i := range 8 {
			time.Sleep(time.Millisecond)
			wg.Go(func() {
				_, err := p.Generate(t.Context(), say("x", uint32(i)))
				switch {
				case llm.Unavailable(err) && time.Since(start) > time.Minute:
					gone.Add(1)
				case err != nil && !llm.Unavailable(err):
					probes.Add(1) // it used its two tries up for the others
				default:
					t.Errorf("call %d: %v after %v", i, err, time.Since(start))
				}
			})
		}
		wg.Wait()
		// Refused at 1 s; probes at 6, 17 and 38 s: the quarantine doubles.
		if gone.Load() != 5 || probes.Load() != 3 || time.Since(start) > 63*time.Second {
			t.Errorf("%d ended as unavailable and %d as probes, after %v", gone.Load(), probes.Load(), time.Since(start))
		}
	})
}

func TestPoolAllOutWaitsForTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replicas := []*replica{{}, {}}
		p := newPool(t, pool.Config{}, replicas...)
		for _, r := range replicas {
			r.become(always(errStall))
		}
		for i := range 5 {
			p.Generate(t.Context(), say("x", uint32(i))) // fails at both
		}
		for _, e := range p.Report().Endpoints {
			if e.Health != pool.Quarantined {
				t.Fatalf("%s is %s after five stalls", e.Name, e.Health)
			}
		}
		for _, r := range replicas {
			r.become(nil)
		}
		out := time.Now()
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				if reply, err := p.Generate(t.Context(), say("x", uint32(i))); err != nil {
					t.Errorf("call %d: %s, %v", i, endpointsOf(reply.Attempts), err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(out); took < firstQuarantine-3*time.Second || took > firstQuarantine+3*time.Second {
			t.Errorf("all were served %v after the last went out, want soon after the quarantine of %v", took, firstQuarantine)
		}
	})
}

func TestPoolWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{}
		p := newPool(t, pool.Config{MaxWait: 3 * time.Second}, a)
		a.become(always(errResting))
		start := time.Now()
		_, err := p.Generate(t.Context(), say("x", 1)) // fails after 1 s, then waits 3 s for a probe at 5 s
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("gave up after %v, want 4s", took)
		}
		if err == nil || llm.Unavailable(err) || !llm.Retryable(err) ||
			!strings.Contains(err.Error(), "within 3s: a: server") {
			t.Errorf("error %v: want one worth a retry that says what is out and why", err)
		}
	})
}

func TestPoolWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{do: always(errResting)}
		p := newPool(t, pool.Config{}, a)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		reply, err := p.Generate(ctx, say("x", 1)) // fails after 1 s, then waits for a probe at 6 s
		if took := time.Since(start); took != 3*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
		if got := endpointsOf(reply.Attempts); got != "a:error" || !strings.Contains(err.Error(), "after a (llm: server)") {
			t.Errorf("%s, %v; want the attempt that was paid for, and what it came to", got, err)
		}
		if r := p.Report(); r.Waiting != 0 {
			t.Errorf("%d still waiting", r.Waiting)
		}
	})
}

// A probe whose caller gives up frees the next call to probe.
func TestPoolProbeAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{do: always(errResting)}
		p := newPool(t, pool.Config{Tries: 1}, a)
		p.Generate(t.Context(), say("x", 1))
		a.become(nil)
		time.Sleep(firstQuarantine)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { p.Generate(ctx, say("x", 2)) })
		synctest.Wait()
		if _, err := p.Generate(t.Context(), say("x", 3)); err != nil || time.Since(start) != 3*time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		wg.Wait()
	})
}

func TestPoolDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{}
		p := newPool(t, pool.Config{Slots: 1}, a)
		drain, stop := context.WithCancel(t.Context())
		ctx := llm.WithTrace(t.Context(), &llm.Trace{Drain: drain.Done()})
		var wg sync.WaitGroup
		for i := range 3 {
			time.Sleep(time.Millisecond)
			wg.Go(func() {
				reply, err := p.Generate(ctx, say("x", uint32(i)))
				if i == 0 && err != nil {
					t.Errorf("the one under way: %v", err)
				}
				if i > 0 && (!errors.Is(err, llm.ErrDraining) || len(reply.Attempts) > 0) {
					t.Errorf("one that waits: %v, %v", reply, err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		stop()
		wg.Wait()
	})
}

// A slot is idle only if no call waits for one, in the pool or in a limit around it.
func TestPoolSaysWhenAPlaceIsIdle(t *testing.T) {
	for _, tt := range []struct {
		reason string
		limit  int // around the pool; 0 means none
	}{
		{"the second round of six leaves slots idle", 0},
		{"four at a time: the third round does", 4},
		{"a limit that is wider than the pool does not hide who waits inside", 100},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var begun, said int
			one := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
				mu.Lock()
				begun++
				mu.Unlock()
				time.Sleep(time.Second + time.Microsecond<<req.Seed) // no two sums are equal, so that calls end one after the other
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
			})
			p, err := pool.New(pool.Config{Slots: 3, Endpoints: []pool.Endpoint{{Name: "a", LLM: one}, {Name: "b", LLM: one}}})
			if err != nil {
				t.Fatal(err)
			}
			var l llm.LLM = p
			if tt.limit > 0 {
				l = llm.Limit(p, tt.limit)
			}
			waiting := 0 // in whatever queue, as a run counts them
			wait := func(n int) { mu.Lock(); defer mu.Unlock(); waiting += n }
			ctx := llm.WithTrace(t.Context(), &llm.Trace{
				Queued: func() (served func()) { wait(1); return func() { wait(-1) } },
				Idle: func() {
					mu.Lock()
					defer mu.Unlock()
					if waiting > 0 {
						return
					}
					said++
					if begun < 11 { // the last may have its slot, and not have come to use it
						t.Errorf("%s: said when %d of 12 calls had begun", tt.reason, begun)
					}
				},
			})
			var wg sync.WaitGroup
			for i := range 12 {
				wg.Go(func() { l.Generate(ctx, say("x", uint32(i))) })
			}
			wg.Wait()
			if said < 4 {
				t.Errorf("%s: said %d times, want at least 4: whenever a call ended and none waited", tt.reason, said)
			}
		})
	}
}

func TestPoolHeedsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replica{}
		p := newPool(t, pool.Config{}, a)
		busy := true
		a.become(func(llm.Request) error {
			if busy {
				busy = false
				return after(20 * time.Second)
			}
			return nil
		})
		start := time.Now()
		reply, err := p.Generate(t.Context(), say("x", 1))
		if took := time.Since(start); err != nil || took != 22*time.Second || len(reply.Attempts) != 2 {
			t.Errorf("%s, %v after %v; want an answer after 1 + 20 + 1 s", endpointsOf(reply.Attempts), err, took)
		}
	})
}

// A request that brings down whoever serves it must not do so for ever.
func TestPoolPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replicas := []*replica{{}, {}, {}}
		p := newPool(t, pool.Config{}, replicas...)
		for _, r := range replicas {
			r.become(func(req llm.Request) error {
				if req.Seed == 666 {
					return errRefused
				}
				return nil
			})
		}
		p.Generate(t.Context(), say("x", 0))
		reply, err := p.Generate(t.Context(), say("x", 666))
		if err == nil || len(reply.Attempts) > 4 || llm.Unavailable(err) {
			t.Errorf("%s, %v; want an end after four tries that stops no run", endpointsOf(reply.Attempts), err)
		}
		if _, err := p.Generate(t.Context(), say("x", 1)); err != nil {
			t.Errorf("the next call: %v", err)
		}
	})
}

func TestPoolOneAttemptPerHealthyEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replicas := []*replica{{}, {}, {}}
		p := newPool(t, pool.Config{Tries: 100}, replicas...)
		for _, r := range replicas {
			r.become(always(errServer))
		}
		reply, err := p.Generate(t.Context(), say("x", 1))
		seen := map[string]bool{}
		for _, a := range reply.Attempts {
			seen[a.Endpoint] = true
		}
		if err == nil || len(reply.Attempts) != 3 || len(seen) != 3 {
			t.Errorf("%s, %v; want one attempt at each", endpointsOf(reply.Attempts), err)
		}
	})
}

func TestPoolGateCanRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replicas := []*replica{{do: always(errServer)}, {do: always(errServer)}}
		p := newPool(t, pool.Config{}, replicas...)
		full := errors.New("the budget is used up")
		ctx := llm.WithTrace(t.Context(), &llm.Trace{Again: func(context.Context, llm.Request) error { return full }})
		reply, err := p.Generate(ctx, say("x", 1))
		if len(reply.Attempts) != 1 || !errors.Is(err, full) || llm.StatusOf(err) != llm.Failed {
			t.Errorf("%s, %v", endpointsOf(reply.Attempts), err)
		}
	})
}

func TestPoolPanicGivesThePlaceBack(t *testing.T) {
	p, err := pool.New(pool.Config{Slots: 1, Endpoints: []pool.Endpoint{{Name: "a", LLM: llm.Func(
		func(_ context.Context, req llm.Request) (llm.Reply, error) {
			if req.Seed == 1 {
				panic("mine")
			}
			return llm.Reply{}, nil
		})}}})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { recover() }()
		p.Generate(t.Context(), say("x", 1))
	}()
	if _, err := p.Generate(t.Context(), say("x", 2)); err != nil {
		t.Error(err)
	}
}

// What every endpoint saw is what the replies account for, whatever happens and in whatever order.
func TestPoolAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fate := []error{nil, nil, nil, nil, errStall, errServer, stalled(llm.Timeout), failed(llm.KindBrokenReply),
			failed(llm.KindBadRequest), after(2 * time.Second), errRefused}
		replicas := []*replica{{}, {}, {}}
		for i, r := range replicas {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			r.do = func(llm.Request) error { return fate[rng.IntN(len(fate))] }
		}
		var mu sync.Mutex // rand is not safe
		for _, r := range replicas {
			do := r.do
			r.do = func(req llm.Request) error { mu.Lock(); defer mu.Unlock(); return do(req) }
		}
		p := newPool(t, pool.Config{Slots: 5}, replicas...)
		var wg sync.WaitGroup
		seen := map[string]int{}
		var failures int
		for i := range 2000 {
			wg.Go(func() {
				ctx := t.Context()
				if i%10 == 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*100*time.Millisecond)
					defer cancel()
				}
				reply, err := p.Generate(ctx, say(fmt.Sprint(i%10), uint32(i)))
				mu.Lock()
				defer mu.Unlock()
				for _, a := range reply.Attempts {
					seen[a.Endpoint+string(a.Status.Class())]++
				}
				if err != nil {
					failures++
				}
			})
		}
		wg.Wait()
		r := p.Report()
		for i, e := range r.Endpoints {
			got := []int{e.OK, e.Stalls, e.Failures, e.Canceled}
			want := []int{seen[e.Name+"real"], seen[e.Name+"stall"], seen[e.Name+"error"], seen[e.Name+"canceled"]}
			if !slices.Equal(got, want) || e.Calls != replicas[i].calls() || e.InFlight != 0 || replicas[i].most > 5 {
				t.Errorf("%s: %v in the report, %v in the replies; %d calls there; at most %d in flight", e.Name, got, want,
					replicas[i].calls(), replicas[i].most)
			}
		}
		// About 850 fail; more if by chance no probe brings an endpoint back while all are out.
		if r.Waiting != 0 || failures == 0 || failures == 2000 {
			t.Errorf("%d still waiting, %d failed", r.Waiting, failures)
		}
		t.Logf("%d of 2000 failed\n%v", failures, r)
	})
}

func TestPoolReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{{Name: "a",
			LLM: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
				time.Sleep(2 * time.Second)
				if calls++; calls == 1 {
					return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled, Streamed: 40}, {Status: llm.OK,
						Usage: &llm.Usage{PromptTokens: 100, CachedTokens: 80, CompletionTokens: 160}}}}, nil
				}
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK,
					Usage: &llm.Usage{PromptTokens: 10, CachedTokens: 99, CompletionTokens: -5}}}}, nil
			})}}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			p.Generate(t.Context(), say("x", 1))
			time.Sleep(time.Minute) // idle time counts for nothing
		}
		want := pool.EndpointReport{
			Name: "a", Health: pool.Healthy, Slots: 16, Calls: 2, OK: 2, Stalls: 1, StallRate: 1.0 / 3,
			PromptTokens: 110, CachedTokens: 90, CompletionTokens: 200, CacheHitRate: 90.0 / 110, TokensPerSecond: 50,
			BusySeconds: 4,
		}
		r := p.Report()
		if diff := cmp.Diff([]pool.EndpointReport{want}, r.Endpoints); diff != "" {
			t.Error(diff)
		}
		data, err := json.Marshal(r)
		var back pool.Report
		if err != nil || json.Unmarshal(data, &back) != nil || !cmp.Equal(r.Endpoints, back.Endpoints) {
			t.Errorf("%s, %v", data, err)
		}
	})
}

func TestPoolRejects(t *testing.T) {
	ok := pool.Endpoint{Name: "a", LLM: llm.Func(nil)}
	for _, tt := range []struct {
		reason string
		cfg    pool.Config
	}{
		{"nothing to ask", pool.Config{}},
		{"no LLM", pool.Config{Endpoints: []pool.Endpoint{{Name: "a"}}}},
		{"no name", pool.Config{Endpoints: []pool.Endpoint{{LLM: llm.Func(nil)}}}},
		{"one name for two", pool.Config{Endpoints: []pool.Endpoint{ok, ok}}},
		{"negative places", pool.Config{Endpoints: []pool.Endpoint{ok}, Slots: -1}},
		{"an endpoint with negative places", pool.Config{Endpoints: []pool.Endpoint{{Name: "a", LLM: llm.Func(nil),
			Slots: -1}}}},
		{"a negative quarantine", pool.Config{Endpoints: []pool.Endpoint{ok}, Quarantine: -1}},
		{"negative tries", pool.Config{Endpoints: []pool.Endpoint{ok}, Tries: -1}},
	} {
		if p, err := pool.New(tt.cfg); err == nil || !strings.HasPrefix(err.Error(), "pool: ") {
			t.Errorf("%s: %v, error %v", tt.reason, p, err)
		}
	}
}
