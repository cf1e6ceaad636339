package nats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
)

func TestWorkersScorePrograms(t *testing.T) {
	server := local(t)
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: length, Slots: 4})
	e := run(t, nats.Config{Server: server, InFlight: 10, Lost: time.Minute}) // so that a busy machine loses none
	each(t, e, 100, "program")
	r, err := e.Evaluate(t.Context(), "bad one")
	if err != nil || r.Valid || r.Reason != "it is bad" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := e.Stats(); got.Done != 101 || got.Waiting+got.Redelivered+got.Recalled != 0 {
		t.Errorf("run: %+v", got)
	}
	until(t, "the worker has acknowledged all", func() bool { return w.Stats().Done == 101 && queued(t, server) == 0 })
	if got := w.Stats(); got.Invalid != 1 || got.Failed+got.Known+got.Canceled != 0 {
		t.Errorf("worker: %+v", got)
	}
}

// What was paid for is not paid for again, also by runs at the same time. A sample or a run that is kept apart is
// another evaluation.
func TestNothingIsPaidForTwice(t *testing.T) {
	server := local(t)
	var made atomic.Int64
	counted := eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		made.Add(1)
		return length(ctx, program)
	})
	a := run(t, nats.Config{Server: server, Lost: time.Minute})
	b := run(t, nats.Config{Server: server, Lost: time.Minute})
	var all sync.WaitGroup
	for _, e := range []eval.Evaluator{a, a, b} {
		all.Go(func() { each(t, e, 50, "program") })
	}
	until(t, "all are queued", func() bool { return a.Stats().Waiting+b.Stats().Waiting == 100 && queued(t, server) == 50 })
	for range 2 {
		work(t, nats.WorkerConfig{Server: server, Evaluator: counted, Slots: 4})
	}
	all.Wait()
	if got := made.Load(); got != 50 {
		t.Errorf("%d evaluations of 50 programs by two runs", got)
	}
	a.Close()
	c := run(t, nats.Config{Server: server, Lost: time.Minute})
	each(t, c, 50, "program")
	if got := c.Stats(); made.Load() != 50 || got.Recalled != 50 {
		t.Errorf("%d evaluations after a third run: %+v", made.Load(), got)
	}
	if _, err := c.EvaluateSample(t.Context(), "program 1", 1); err != nil || made.Load() != 51 {
		t.Errorf("another sample: %v, %d evaluations", err, made.Load())
	}
	each(t, run(t, nats.Config{Server: server, Apart: "again", Lost: time.Minute}), 50, "program")
	if got := made.Load(); got != 101 {
		t.Errorf("%d evaluations after a run that is kept apart", got)
	}
}

// A run that goes on after its connection was cut off finds the jobs that it had queued.
func TestARunThatGoesOnFindsItsJobs(t *testing.T) {
	server := local(t)
	killed := run(t, nats.Config{Server: server})
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			if r, err := killed.Evaluate(t.Context(), fmt.Sprint("program ", i)); err == nil {
				t.Errorf("after its end: %+v", r)
			}
		})
	}
	until(t, "two are queued", func() bool { return queued(t, server) == 2 })
	killed.Close()
	all.Wait()
	e := run(t, nats.Config{Server: server, Lost: time.Minute})
	all.Go(func() { each(t, e, 3, "program") })
	until(t, "all are queued", func() bool { return queued(t, server) == 3 && e.Stats().Waiting == 3 })
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	all.Wait()
	until(t, "the worker has done three", func() bool { return w.Stats().Done == 3 })
}

// A run whose task nobody serves says so within seconds, with both digests.
func TestNobodyServes(t *testing.T) {
	server := local(t)
	other := nats.Task{Name: "cp", Digest: "fedcba9876543210"}
	e := run(t, nats.Config{Server: server, Unserved: time.Millisecond})
	_, err := e.Evaluate(t.Context(), "program")
	if err == nil || !strings.Contains(err.Error(), cp.Digest) || !strings.Contains(err.Error(), "no worker of the task") {
		t.Errorf("without workers: %v", err)
	}
	w, _ := work(t, nats.WorkerConfig{Server: server, Task: other, Evaluator: length})
	until(t, "the run has heard of the worker", func() bool {
		_, err = e.Evaluate(t.Context(), "program")
		return err != nil && strings.Contains(err.Error(), other.Digest)
	})
	if got := w.Stats(); got.Done != 0 || !strings.Contains(err.Error(), cp.Digest) {
		t.Errorf("the worker of another version: %+v; %v", got, err)
	}
}

// An evaluation that its run gives up ends at the worker, and one that is queued is gone.
func TestACanceledEvaluationEndsAtTheWorker(t *testing.T) {
	server := local(t)
	h := newHeld()
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: h})
	e := run(t, nats.Config{Server: server})
	enough := errors.New("enough")
	give := map[string]context.CancelCauseFunc{}
	var all sync.WaitGroup
	for i, program := range []string{"under way", "queued"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		give[program] = cancel
		all.Go(func() {
			if _, err := e.Evaluate(ctx, program); !errors.Is(err, enough) {
				t.Errorf("%s: %v", program, err)
			}
		})
		until(t, "it is queued, the first begun", func() bool { return queued(t, server) == i+1 && e.Stats().Begun == 1 })
	}
	give["queued"](enough) // first, or the worker might take it
	until(t, "it is not in the queue", func() bool { return queued(t, server) == 1 })
	give["under way"](enough)
	all.Wait()
	until(t, "the worker has stopped", func() bool { return w.Stats().Canceled == 1 })
	close(h.release)
	if r, err := e.Evaluate(t.Context(), "another"); err != nil || r.Score != 1 || h.begun.Load() != 2 {
		t.Errorf("%+v, %v after %d evaluations", r, err, h.begun.Load())
	}
}

// The most that eval's bounds allow fits into messages, as far as it is text. Artifacts that do not fit are left out.
func TestLargeMessages(t *testing.T) {
	server := local(t)
	work(t, nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		r := eval.Result{Score: 1, Valid: true, Artifacts: map[string]string{}, Cases: make([]float64, 2*eval.MaxCases)}
		for i := range 4 {
			r.Artifacts[fmt.Sprint(i)] = strings.Repeat(program[:1], 60<<10)
		}
		return r, nil
	})})
	e := run(t, nats.Config{Server: server})
	for letter, artifacts := range map[string]int{"x": 4, "\x01": 0} { // which has six bytes as JSON
		r, err := e.Evaluate(t.Context(), strings.Repeat(letter, nats.MaxProgram))
		if err != nil || !r.Valid || r.Score != 1 || len(r.Artifacts) != artifacts || len(r.Cases) != eval.MaxCases {
			t.Errorf("%q: %v with %d artifacts, %d cases: %v", letter, r.Valid, len(r.Artifacts), len(r.Cases), err)
		}
	}
	if r, err := e.Evaluate(t.Context(), strings.Repeat("x", nats.MaxProgram+1)); err != nil || r.Valid ||
		!strings.Contains(r.Reason, "bytes") {
		t.Errorf("a program that is too long: %+v, %v", r, err)
	}
}
