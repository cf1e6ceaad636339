package llm_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A drain gives up what waits for a place or to be tried again, and lets what was sent go on.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain, end := context.WithCancel(t.Context())
		ctx := llm.WithDrain(t.Context(), drain)
		answer := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			time.Sleep(10 * time.Second)
			return llm.Reply{Text: "done"}, nil
		})
		one := llm.Limit(answer, 1)
		failing := llm.Retry(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Attempts: make([]llm.Attempt, 1)}, &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("500")}
		}), llm.RetryConfig{Wait: time.Minute})
		time.AfterFunc(3*time.Second, end)
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

func TestAgainAsksTheGate(t *testing.T) {
	no := errors.New("no room")
	ctx := llm.WithGate(t.Context(), func(context.Context, llm.Request) error { return no })
	if err := llm.Again(ctx, llm.Request{}); !errors.Is(err, no) {
		t.Errorf("Again: %v", err)
	}
	if err := llm.Again(t.Context(), llm.Request{}); err != nil {
		t.Errorf("Again without a gate: %v", err)
	}
}

// A call is announced when it has left every queue, before each attempt, and not made if that fails.
func TestSendIsAskedBehindTheQueues(t *testing.T) {
	answer := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		time.Sleep(time.Second)
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed}}}, &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("500")}
	})
	pool := func(l llm.LLM) llm.LLM {
		p, err := llm.NewPool(llm.PoolConfig{Endpoints: []llm.Endpoint{{Name: "a", LLM: l, Places: 2}}, Tries: 1})
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
		{"recorded", llm.Record(llm.Limit(answer, 2), io.Discard), 2, 6},
	} {
		synctest.Test(t, func(t *testing.T) {
			if !llm.Announces(tt.l) {
				t.Errorf("%s: does not say that it announces", tt.reason)
			}
			var asked atomic.Int64
			var wg sync.WaitGroup
			for range 6 {
				wg.Go(func() {
					tt.l.Generate(llm.WithSend(t.Context(), func() error { asked.Add(1); return nil }), llm.Request{})
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
		reply, err := tt.l.Generate(llm.WithSend(t.Context(), func() error { times++; return no }), llm.Request{})
		if !errors.Is(err, no) || len(reply.Attempts) != 0 || times != 1 {
			t.Errorf("%s: %d attempts, error %v after asking %d times, want none and %v at once", tt.reason, len(reply.Attempts), err, times, no)
		}
	}
	for _, l := range []llm.LLM{answer, llm.Retry(answer, llm.RetryConfig{}), llm.Record(answer, io.Discard)} {
		if llm.Announces(l) {
			t.Errorf("%v says that it announces", l)
		}
	}
}
