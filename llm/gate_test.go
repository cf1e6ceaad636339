package llm_test

import (
	"context"
	"errors"
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
