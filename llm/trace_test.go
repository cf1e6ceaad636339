package llm_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// A drain gives up what waits for a place or to be tried again, and lets what was sent go on.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := make(chan struct{})
		ctx := llm.WithTrace(t.Context(), &llm.Trace{Drain: drain})
		answer := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			time.Sleep(10 * time.Second)
			return llm.Reply{Text: "done"}, nil
		})
		one := llm.Limit(answer, 1)
		failing := llm.Retry(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Attempts: make([]llm.Attempt, 1)},
				&llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("500")}
		}), llm.RetryConfig{Wait: time.Minute})
		time.AfterFunc(3*time.Second, func() { close(drain) })
		type outcome struct {
			reply llm.Reply
			err   error
			took  time.Duration
		}
		begin := time.Now()
		ask := func(l llm.LLM) chan outcome {
			c := make(chan outcome, 1)
			go func() {
				r, err := l.Generate(ctx, llm.Request{})
				c <- outcome{r, err, time.Since(begin)}
			}()
			synctest.Wait()
			return c
		}
		sent, waiting, retrying := ask(one), ask(one), ask(failing)
		if o := <-sent; o.err != nil || o.reply.Text != "done" || o.took != 10*time.Second {
			t.Errorf("what was sent: %+v", o)
		}
		if o := <-waiting; !errors.Is(o.err, llm.ErrDraining) || o.took != 3*time.Second || len(o.reply.Attempts) != 0 {
			t.Errorf("what waited: %+v", o)
		}
		if o := <-retrying; !errors.Is(o.err, llm.ErrDraining) || o.took != 3*time.Second || len(o.reply.Attempts) != 1 {
			t.Errorf("what was to be tried again: %+v", o)
		}
	})
}

// Fields that are not set are those of the Trace outside.
func TestTracesNest(t *testing.T) {
	var told []string
	note := func(s string) func(string) error { return func(string) error { told = append(told, s); return nil } }
	drain, no := make(chan struct{}), errors.New("no room")
	ctx := llm.WithTrace(t.Context(), &llm.Trace{Send: note("outer send"), Idle: func() { note("outer idle")("") },
		Drain: drain})
	ctx = llm.WithTrace(ctx, &llm.Trace{Send: note("inner send"),
		Again: func(context.Context, llm.Request) error { return no }})
	trace := llm.TraceOf(ctx)
	trace.Send("")
	trace.Idle()
	trace.Ended(nil)
	trace.Queued()()
	if got := strings.Join(told, ", "); got != "inner send, outer idle" {
		t.Errorf("told %s", got)
	}
	if err := trace.Again(ctx, llm.Request{}); !errors.Is(err, no) {
		t.Errorf("Again: %v, want %v", err, no)
	}
	close(drain)
	if err := trace.Again(ctx, llm.Request{}); !errors.Is(err, llm.ErrDraining) {
		t.Errorf("Again once the trace drains: %v, want %v", err, llm.ErrDraining)
	}
}

func TestNoTrace(t *testing.T) {
	trace := llm.TraceOf(t.Context())
	trace.Idle()
	trace.Ended(nil)
	trace.Queued()()
	if err := cmp.Or(trace.Again(t.Context(), llm.Request{}), trace.Send(""), trace.Draining()); err != nil {
		t.Errorf("without a trace: %v", err)
	}
	if reply, err := llm.Ask(t.Context(), llm.Func(shout), say("x", 0)); reply.Text != "x!" || err != nil {
		t.Errorf("Ask without a trace: %q, %v", reply.Text, err)
	}
}

// What stands between Ask and the model is the trace's; a search keeps a judge's calls within its budget so.
func TestAskGoesThroughTheTrace(t *testing.T) {
	ctx := llm.WithTrace(t.Context(), &llm.Trace{Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		reply, err := l.Generate(ctx, req)
		reply.Text = "seen: " + reply.Text
		return reply, err
	}})
	if reply, err := llm.Ask(ctx, llm.Func(shout), say("x", 0)); reply.Text != "seen: x!" || err != nil {
		t.Errorf("reply %q, %v", reply.Text, err)
	}
}

// A call is announced when it has left every queue, before each attempt, and not made if that fails.
func TestSendIsAskedBehindTheQueues(t *testing.T) {
	answer := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(time.Second)
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed}}},
			&llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("500")}
	})
	pool := func(l llm.LLM) llm.LLM {
		p, err := pool.New(pool.Config{Endpoints: []pool.Endpoint{{Name: "a", LLM: l, Slots: 2}}, Tries: 1})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, tt := range []struct {
		reason string
		l      llm.LLM
		asked  int // when six calls were made together a moment ago, of which two have a place
		all    int // when every call has ended
	}{
		{"a limit", llm.Limit(answer, 2), 2, 6},
		{"limits within limits", llm.Limit(llm.Limit(answer, 2), 4), 2, 6},
		{"a pool", pool(answer), 2, 6},
		{"a limit around a pool", llm.Limit(pool(answer), 5), 2, 6},
		{"a limit within a pool, which has the queue", pool(llm.Limit(answer, 3)), 2, 6},
		{"attempts again", llm.Retry(llm.Limit(answer, 2), llm.RetryConfig{Max: 1, Wait: -1}), 2, 12},
		{"attempts again of what does not announce", llm.Retry(answer, llm.RetryConfig{Max: 1, Wait: -1}), 6, 12},
	} {
		synctest.Test(t, func(t *testing.T) {
			if !llm.Announces(tt.l) {
				t.Errorf("%s: does not say that it announces", tt.reason)
			}
			var asked atomic.Int64
			var wg sync.WaitGroup
			for range 6 {
				wg.Go(func() {
					tt.l.Generate(llm.WithTrace(t.Context(), &llm.Trace{Send: func(string) error { asked.Add(1); return nil }}),
						llm.Request{})
				})
			}
			synctest.Wait()
			if n := int(asked.Load()); n != tt.asked {
				t.Errorf("%s: %d attempts announced at first, want %d", tt.reason, n, tt.asked)
			}
			wg.Wait()
			if n := int(asked.Load()); n != tt.all {
				t.Errorf("%s: %d attempts announced, want %d", tt.reason, n, tt.all)
			}
		})
		no := errors.New("the disk is full")
		times := 0
		reply, err := tt.l.Generate(llm.WithTrace(t.Context(), &llm.Trace{Send: func(string) error { times++; return no }}),
			llm.Request{})
		if !errors.Is(err, no) || len(reply.Attempts) != 0 || times != 1 {
			t.Errorf("%s: %d attempts, error %v after asking %d times, want none and %v at once", tt.reason, len(reply.Attempts),
				err, times, no)
		}
	}
	if llm.Announces(answer) {
		t.Error("a function says that it announces")
	}
}

// A run is not told of a place that a call of another run, which shares the limit, waits for.
func TestLimitIsNotIdleWhileOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.Limit(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			time.Sleep(time.Second)
			return llm.Reply{}, nil
		}), 1)
		said := 0
		ctx := llm.WithTrace(t.Context(), &llm.Trace{Idle: func() { said++ }})
		var wg sync.WaitGroup
		wg.Go(func() { l.Generate(ctx, say("x", 0)) })
		synctest.Wait()
		wg.Go(func() { l.Generate(t.Context(), say("x", 1)) })
		wg.Go(func() { l.Generate(t.Context(), say("x", 2)) })
		wg.Wait()
		if said != 0 {
			t.Errorf("said %d times while calls of another run waited", said)
		}
		l.Generate(ctx, say("x", 3))
		if said != 1 {
			t.Errorf("said %d times when none waited, want once", said)
		}
	})
}
