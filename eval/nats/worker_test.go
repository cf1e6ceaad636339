package nats_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
)

// An evaluator that fails is not the program's fault: another worker scores it, and the one with the evaluator ends, as
// it would have the others' jobs for nothing.
func TestAWorkerWhoseEvaluatorFailsEnds(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	var begun atomic.Int64
	three := make(chan bool)
	broken := eval.Func(func(context.Context, string) (eval.Result, error) {
		if begun.Add(1) == 3 {
			close(three)
		}
		<-three // or one alone might fail three times
		return eval.Result{}, errors.New("no interpreter")
	})
	w, err := nats.NewWorker(nats.WorkerConfig{Server: server, Task: cp, Evaluator: broken, Slots: 3,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e := run(t, nats.Config{Server: server})
	done := make(chan bool)
	go func() {
		defer close(done)
		each(t, e, 3, "program")
	}()
	until(t, "all are queued", func() bool { return nats.Queued(e) == 3 })
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "times in a row: no interpreter") {
		t.Errorf("%v", err)
	}
	work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	<-done
}

// If it fails on every worker, the run ends, and says why.
func TestAnEvaluatorThatFailsEverywhereEndsTheRun(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	e := run(t, nats.Config{Server: server})
	ended := make(chan error)
	go func() {
		_, err := e.Evaluate(t.Context(), "program")
		ended <- err
	}()
	until(t, "it is queued", func() bool { return nats.Queued(e) == 1 })
	for range 3 {
		work(t, nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
			panic("no interpreter")
		})})
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "no interpreter") {
		t.Errorf("%v", err)
	}
}

// A job that workers give back has ended none of them: those whose evaluator failed, and those that were told to end.
// That is so also with the permissions that workers have.
func TestAJobThatIsGivenBackIsNoDeath(t *testing.T) {
	t.Parallel()
	asRun, asWorker := roles(t)
	e := run(t, nats.Config{Server: asRun, Deaths: 1, Lost: time.Minute})
	done := make(chan bool)
	go func() {
		defer close(done)
		if r, err := e.Evaluate(t.Context(), "program"); err != nil || !r.Valid {
			t.Errorf("%+v, %v", r, err)
		}
	}()
	until(t, "it is queued", func() bool { return nats.Queued(e) == 1 })
	begun := make(chan bool, 10)
	_, end := work(t, nats.WorkerConfig{Server: asWorker, Grace: -1,
		Evaluator: eval.Func(func(ctx context.Context, _ string) (eval.Result, error) {
			begun <- true
			if len(begun) < 3 {
				return eval.Result{}, errors.New("no interpreter")
			}
			<-ctx.Done()
			return eval.Result{}, ctx.Err()
		})})
	until(t, "it is tried for the third time", func() bool { return len(begun) == 3 })
	if err := end(); err != nil {
		t.Fatal(err)
	}
	work(t, nats.WorkerConfig{Server: asWorker, Evaluator: length})
	<-done
}

// A program with which worker after worker hangs is invalid for that, and not tried for ever. The first time it is not
// known to be the cause.
func TestAProgramThatHangsWorkers(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	var tries atomic.Int64
	w, _ := work(t, nats.WorkerConfig{Server: server, Slots: 2, Grace: -1,
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			if program == "hang" {
				tries.Add(1)
				<-ctx.Done()
				return eval.Result{}, ctx.Err()
			}
			return length(ctx, program)
		})})
	e := run(t, nats.Config{Server: server, Timeout: 20 * time.Millisecond, Deaths: 2})
	r, err := e.Evaluate(t.Context(), "hang")
	if err != nil || r.Valid || !strings.Contains(r.Reason, "2 workers in a row") || tries.Load() != 3 {
		t.Errorf("%+v, %v after %d tries", r, err, tries.Load())
	}
	each(t, e, 10, "program")
	if got := e.Stats().Redelivered; got != 3 {
		t.Errorf("%d redeliveries", got)
	}
	until(t, "the worker has counted", func() bool { return w.Stats().Done == 11 })
	if got := w.Stats(); got.Poisoned != 1 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
}

// A worker that is ended lets its evaluation end, and gives back what it has not begun.
func TestAWorkerThatIsEndedFinishes(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	begun, goOn := make(chan bool, 10), make(chan bool)
	var made atomic.Int64
	slow := eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		made.Add(1)
		begun <- true
		<-goOn
		return length(ctx, program)
	})
	w, end := work(t, nats.WorkerConfig{Server: server, Evaluator: slow, Grace: time.Minute})
	e := run(t, nats.Config{Server: server})
	done := make(chan bool)
	go func() {
		defer close(done)
		each(t, e, 2, "program")
	}()
	<-begun
	ended := make(chan error)
	go func() { ended <- end() }()
	until(t, "the worker takes no more", func() bool { return nats.Stopping(w) })
	goOn <- true
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(goOn)
	work(t, nats.WorkerConfig{Server: server, Evaluator: slow})
	<-done
	if got := made.Load(); got != 2 {
		t.Errorf("%d evaluations of 2 programs", got)
	}
}

func TestDigest(t *testing.T) {
	files := func() fstest.MapFS {
		return fstest.MapFS{
			"evaluator.py":            {Data: []byte("score")},
			"data/cases.csv":          {Data: []byte("1,2")},
			"__pycache__/x.pyc":       {Data: []byte("x")},
			"helper.pyc":              {Data: []byte("x")},
			".git/HEAD":               {Data: []byte("x")},
			".hidden":                 {Data: []byte("x")},
			"data/__pycache__/y.pyc":  {Data: []byte("y")},
			"data/.ipynb_checkpoints": {Data: []byte("y")},
		}
	}
	digest := func(f fstest.MapFS, versions ...string) string {
		t.Helper()
		d, err := nats.Digest(f, versions...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := digest(files(), "python 3.12", "v1")
	for reason, change := range map[string]func(fstest.MapFS){
		"what Python leaves":     func(f fstest.MapFS) { delete(f, "__pycache__/x.pyc"); delete(f, "helper.pyc") },
		"what begins with a dot": func(f fstest.MapFS) { delete(f, ".git/HEAD"); f[".hidden"] = &fstest.MapFile{} },
	} {
		f := files()
		change(f)
		if digest(f, "python 3.12", "v1") != base {
			t.Errorf("%s changes it", reason)
		}
	}
	seen := map[string]string{base: "nothing changed"}
	for reason, change := range map[string]func(fstest.MapFS){
		"another evaluator": func(f fstest.MapFS) { f["evaluator.py"].Data = []byte("Score") },
		"another name":      func(f fstest.MapFS) { f["evaluator2.py"] = f["evaluator.py"]; delete(f, "evaluator.py") },
		"other data":        func(f fstest.MapFS) { f["data/cases.csv"].Data = []byte("1,3") },
		"another file":      func(f fstest.MapFS) { f["data/more.csv"] = &fstest.MapFile{} },
	} {
		f := files()
		change(f)
		d := digest(f, "python 3.12", "v1")
		if was, ok := seen[d]; ok {
			t.Errorf("the same digest for %s as for %s", reason, was)
		}
		seen[d] = reason
	}
	for _, versions := range [][]string{{"python 3.13", "v1"}, {"python 3.12"}, {"python 3.12v1"}, {"v1", "python 3.12"}} {
		d := digest(files(), versions...)
		if was, ok := seen[d]; ok {
			t.Errorf("the same digest for %q as for %s", versions, was)
		}
		seen[d] = strings.Join(versions, ", ")
	}
}

func TestWhatIsConfiguredWrongly(t *testing.T) {
	for _, tt := range []struct {
		cfg  nats.Config
		says string
	}{
		{nats.Config{Task: nats.Task{Digest: cp.Digest}}, "Task.Name"},
		{nats.Config{Task: nats.Task{Name: "cp", Digest: "x.>"}}, "Task.Digest"},
		{nats.Config{Task: cp, InFlight: -1}, "InFlight"},
		{nats.Config{Task: cp, Lost: time.Millisecond}, "Lost"},
		{nats.Config{Task: cp, Deaths: -1}, "Deaths"},
		{nats.Config{Task: cp, Timeout: -1}, "Timeout"},
		{nats.Config{Task: cp, Server: nats.Server{Prefix: "a.b"}}, "Prefix"},
		{nats.Config{Task: cp, Server: nats.Server{NKey: "a", Credentials: "b"}}, "Credentials"},
		{nats.Config{Task: cp, Server: nats.Server{Cert: "a"}}, "Cert"},
		{nats.Config{Task: cp, Server: nats.Server{URL: "nats://127.0.0.1:1"}}, "127.0.0.1:1"},
		{nats.Config{Task: cp, Server: nats.Server{NKey: "/nonexistent"}}, "NKey"},
	} {
		if _, err := nats.New(t.Context(), tt.cfg); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want it to say %s", tt.cfg, err, tt.says)
		}
	}
	for _, tt := range []struct {
		cfg  nats.WorkerConfig
		says string
	}{
		{nats.WorkerConfig{Task: cp}, "Evaluator"},
		{nats.WorkerConfig{Task: cp, Evaluator: length, Slots: -1}, "Slots"},
		{nats.WorkerConfig{Task: cp, Evaluator: length, Name: strings.Repeat("x", 101)}, "Name"},
		{nats.WorkerConfig{Evaluator: length}, "Task"},
	} {
		if _, err := nats.NewWorker(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want it to say %s", tt.cfg, err, tt.says)
		}
	}
}
