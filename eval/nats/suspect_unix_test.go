//go:build unix

package nats_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
)

// A suspect has the worker to itself: it waits until the other slots are free, and they take nothing until it has
// ended.
func TestASuspectIsEvaluatedAlone(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	var others, suspects, beside, ended atomic.Int64
	work(t, nats.WorkerConfig{Server: server, Slots: 3,
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			if program != "suspect" {
				others.Add(1)
				defer others.Add(-1)
				time.Sleep(10 * time.Millisecond)
				ended.Add(1)
				return length(ctx, program)
			}
			if suspects.Add(1) == 1 {
				<-ctx.Done() // for longer than an evaluation may take
				return eval.Result{}, ctx.Err()
			}
			for range 30 {
				beside.Add(others.Load())
				time.Sleep(5 * time.Millisecond)
			}
			return length(ctx, program)
		})})
	e := run(t, nats.Config{Server: server, Lost: time.Minute, Timeout: 2 * time.Second, Deaths: 1})
	var all sync.WaitGroup
	all.Go(func() {
		if r, err := e.Evaluate(t.Context(), "suspect"); err != nil || !r.Valid {
			t.Errorf("the suspect: %+v, %v", r, err)
		}
	})
	stop := make(chan bool)
	all.Go(func() { stream(t, e, stop) })
	until(t, "it is evaluated twice", func() bool { return suspects.Load() == 2 })
	until(t, "others go on", func() bool { n := ended.Load(); return others.Load() > 0 && n > 0 })
	close(stop)
	all.Wait()
	if n := beside.Load(); n != 0 {
		t.Errorf("others were evaluated beside it, %d seen", n)
	}
}

// A suspect that its worker held, and had not begun when it was cut off, has no death by that.
func TestASuspectThatNeverBegan(t *testing.T) {
	t.Parallel()
	asRun, asWorker := roles(t)
	cfg := nats.Config{Server: asRun, Lost: time.Second, Timeout: time.Minute, Deaths: 1}
	first, others := newHeld(), newHeld()
	e := run(t, cfg)
	var all sync.WaitGroup
	all.Go(func() {
		if r, err := e.Evaluate(t.Context(), "suspect"); err != nil || !r.Valid {
			t.Errorf("%+v, %v", r, err)
		}
	})
	a, _ := work(t, nats.WorkerConfig{Server: asWorker, Grace: -1, Evaluator: first})
	until(t, "the first begins it", func() bool { return first.begun.Load() == 1 })

	busy := run(t, nats.Config{Server: asRun})
	leave, cancel := contextWithCancel(t)
	all.Go(func() { busy.Evaluate(leave, "another") })
	b, _ := work(t, nats.WorkerConfig{Server: asWorker, Slots: 2, Grace: -1, Evaluator: others})
	until(t, "the second is busy", func() bool { return others.begun.Load() == 1 })
	nats.CutOff(a)
	until(t, "the second holds it", func() bool { return nats.Running(b) == 2 })
	nats.CutOff(b)
	if n := others.begun.Load(); n != 1 {
		t.Errorf("the second began %d, one of them the suspect", n)
	}
	cancel()
	work(t, nats.WorkerConfig{Server: asWorker, Evaluator: length})
	all.Wait()
}
