package nats_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
)

// An evaluator that fails is not the program's fault: another worker scores it, and the one with the evaluator ends, as
// it would have the others' jobs for nothing.
func TestAWorkerWhoseEvaluatorFailsEnds(t *testing.T) {
	server := local(t)
	var begun atomic.Int64
	three := make(chan bool)
	broken := eval.Func(func(context.Context, string) (eval.Result, error) {
		if begun.Add(1) == 3 {
			close(three)
		}
		<-three // or one alone might fail three times
		return eval.Result{}, errors.New("no interpreter")
	})
	e := run(t, nats.Config{Server: server, Lost: time.Minute})
	var all sync.WaitGroup
	all.Go(func() { each(t, e, 3, "program") })
	w, err := nats.NewWorker(nats.WorkerConfig{Server: server, Task: cp, Evaluator: broken, Slots: 3,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "times in a row: no interpreter") {
		t.Errorf("%v", err)
	}
	work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	all.Wait()
}

// If it fails with each delivery, the evaluation fails, and says why. A later one tries again.
func TestAnEvaluatorThatFailsEverywhere(t *testing.T) {
	server := local(t)
	e := run(t, nats.Config{Server: server})
	_, end := work(t, nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
		panic("no interpreter")
	})})
	if _, err := e.Evaluate(t.Context(), "program"); err == nil || !strings.Contains(err.Error(), "3 times") ||
		!strings.Contains(err.Error(), "no interpreter") {
		t.Errorf("%v", err)
	}
	end()
	work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	each(t, e, 1, "program")
	each(t, run(t, nats.Config{Server: server}), 1, "program")
	if r, err := e.Evaluate(t.Context(), "program"); err != nil || !r.Valid {
		t.Errorf("the program that failed: %+v, %v", r, err)
	}
}

// A program with which worker after worker hangs is invalid for that, and not tried for ever.
func TestAProgramThatHangsWorkers(t *testing.T) {
	server := local(t)
	h := newHeld()
	w, _ := work(t, nats.WorkerConfig{Server: server, Slots: 2, Timeout: 20 * time.Millisecond, Evaluator: h})
	e := run(t, nats.Config{Server: server, MaxDeliver: 3, Lost: time.Minute})
	r, err := e.Evaluate(t.Context(), "hang")
	if err != nil || r.Valid || !strings.Contains(r.Reason, "3 workers in a row") || h.begun.Load() != 3 {
		t.Errorf("%+v, %v after %d tries", r, err, h.begun.Load())
	}
	until(t, "the worker has counted", func() bool { return w.Stats().Invalid == 1 })
	if got := e.Stats().Redelivered; got != 3 || w.Stats().Failed != 0 {
		t.Errorf("%d redeliveries; worker: %+v", got, w.Stats())
	}
}

// A job that is delivered again has the worker to itself: it waits until the other slots are free, and they take
// nothing until it has ended.
func TestARedeliveredJobIsEvaluatedAlone(t *testing.T) {
	server := local(t)
	e := run(t, nats.Config{Server: server, Lost: time.Minute})
	var all sync.WaitGroup
	all.Go(func() {
		if r, err := e.Evaluate(t.Context(), "suspect"); err != nil || !r.Valid {
			t.Errorf("the suspect: %+v, %v", r, err)
		}
	})
	first := newHeld()
	_, end := work(t, nats.WorkerConfig{Server: server, Evaluator: first, Grace: -1})
	until(t, "it is under way", func() bool { return first.begun.Load() == 1 })
	var others, beside, ended atomic.Int64
	alone := make(chan bool)
	w, _ := work(t, nats.WorkerConfig{Server: server, Slots: 3,
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			if program != "suspect" {
				others.Add(1)
				time.Sleep(5 * time.Millisecond)
				others.Add(-1)
				ended.Add(1)
				return length(ctx, program)
			}
			close(alone)
			for range 30 {
				beside.Add(others.Load())
				time.Sleep(5 * time.Millisecond)
			}
			return length(ctx, program)
		})})
	ctx, stop := context.WithCancel(t.Context())
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			each(t, e, 8, fmt.Sprint("program ", i))
		}
	})
	until(t, "others are evaluated", func() bool { return ended.Load() > 10 })
	end() // gives the job back
	<-alone
	before := ended.Load()
	until(t, "others go on", func() bool { return ended.Load() > before+10 })
	stop()
	all.Wait()
	if n := beside.Load(); n != 0 || w.Stats().Failed != 0 {
		t.Errorf("others were evaluated beside it, %d seen; %+v", n, w.Stats())
	}
}

// While a worker evaluates it tells the server so. A result that another one has stored meanwhile stays.
func TestAWorkerHoldsItsJob(t *testing.T) {
	server := local(t)
	h := newHeld()
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: h})
	e := run(t, nats.Config{Server: server, Lost: time.Second})
	nc, err := natsgo.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	acks, err := nc.SubscribeSync("$JS.ACK.EVOALLOC_JOBS.>")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { e.Evaluate(t.Context(), "program") })
	if m, err := acks.NextMsg(time.Minute); err != nil || string(m.Data) != "+WPI" {
		t.Fatalf("%v: want it to say that work is in progress", err)
	}
	subject := "$KV.EVOALLOC_RESULTS.cp." + cp.Digest + "." + nats.KeyOf("program")
	if _, err := nc.Request(subject, []byte(`{"result":{"score":7,"valid":true}}`), time.Minute); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	close(h.release)
	until(t, "the worker's result came too late", func() bool { s := w.Stats(); return s.Done+s.Known > 0 })
	if r, err := run(t, nats.Config{Server: server}).Evaluate(t.Context(), "program"); err != nil || r.Score != 7 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A worker that is told to end lets its evaluation end, takes no other job, and stores its result.
func TestAWorkerThatIsEndedFinishes(t *testing.T) {
	server := local(t)
	h := newHeld()
	w, err := nats.NewWorker(nats.WorkerConfig{Server: server, Task: cp, Evaluator: h, Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	e := run(t, nats.Config{Server: server, Lost: time.Minute})
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			if r, err := e.Evaluate(t.Context(), fmt.Sprint(i)); err != nil || r.Score != 1 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	until(t, "one is under way", func() bool { return h.begun.Load() == 1 && queued(t, server) == 2 })
	stop()
	h.release <- true
	if err := <-ended; err != nil || w.Stats().Done != 1 {
		t.Errorf("%v, %+v", err, w.Stats())
	}
	close(h.release)
	work(t, nats.WorkerConfig{Server: server, Evaluator: h})
	all.Wait()
	if n := h.begun.Load(); n != 2 {
		t.Errorf("%d evaluations of 2 programs", n)
	}
}

func TestDigest(t *testing.T) {
	digest := func(change func(fstest.MapFS), versions ...string) string {
		t.Helper()
		f := fstest.MapFS{"evaluator.py": {Data: []byte("score")}, "data/cases.csv": {Data: []byte("1,2")},
			"__pycache__/x.pyc": {Data: []byte("x")}}
		if change != nil {
			change(f)
		}
		d, err := nats.Digest(f, versions...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	seen := map[string]string{digest(nil, "python 3.12", "v1"): "nothing changed"}
	check := func(same bool, reason, d string) {
		if was, known := seen[d]; known != same {
			t.Errorf("the digest for %s is that for %q", reason, was)
		}
		seen[d] = reason
	}
	file := func(name string) func(fstest.MapFS) {
		return func(f fstest.MapFS) { f[name] = &fstest.MapFile{Data: []byte("new")} }
	}
	for _, name := range []string{"__pycache__/x.pyc", "helper.pyc", ".git/HEAD", "data/.hidden"} {
		check(true, name, digest(file(name), "python 3.12", "v1"))
	}
	for _, name := range []string{"evaluator.py", "evaluator2.py", "data/cases.csv"} {
		check(false, name, digest(file(name), "python 3.12", "v1"))
	}
	for _, versions := range [][]string{{"python 3.13", "v1"}, {"python 3.12"}, {"python 3.12v1"}, {"v1", "python 3.12"}} {
		check(false, strings.Join(versions, ", "), digest(nil, versions...))
	}
}

func TestWhatIsConfiguredWrongly(t *testing.T) {
	for says, cfg := range map[string]nats.Config{
		"Task.Name":   {Task: nats.Task{Digest: cp.Digest}},
		"Task.Digest": {Task: nats.Task{Name: "cp", Digest: "x.>"}},
		"Lost":        {Task: cp, Lost: time.Millisecond},
		"MaxDeliver":  {Task: cp, MaxDeliver: -1},
		"Prefix":      {Task: cp, Server: nats.Server{Prefix: "a.b"}},
		"Credentials": {Task: cp, Server: nats.Server{NKey: "a", Credentials: "b"}},
		"127.0.0.1:1": {Task: cp, Server: nats.Server{URL: "nats://127.0.0.1:1"}},
		"NKey":        {Task: cp, Server: nats.Server{NKey: "/nonexistent"}},
	} {
		if _, err := nats.New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want it to say %s", cfg, err, says)
		}
	}
	for says, cfg := range map[string]nats.WorkerConfig{
		"Evaluator": {Task: cp},
		"Timeout":   {Task: cp, Evaluator: length, Timeout: -1},
		"Name":      {Task: cp, Evaluator: length, Name: strings.Repeat("x", 101)},
		"Task":      {Evaluator: length},
	} {
		if _, err := nats.NewWorker(cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want it to say %s", cfg, err, says)
		}
	}
}
