package nats_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/llm"
)

func TestWorkersScorePrograms(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: length, Slots: 4})
	e := run(t, nats.Config{Server: server, InFlight: 10, Lost: time.Minute}) // so that a busy machine loses none
	each(t, e, 100, "program")
	r, err := e.Evaluate(t.Context(), "bad one")
	if err != nil || r.Valid || r.Reason != "it is bad" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := e.Stats(); got.Done != 101 || got.Waiting != 0 || got.Redelivered != 0 || got.Refused != 0 {
		t.Errorf("run: %+v", got)
	}
	until(t, "the worker has acknowledged all", func() bool { return w.Stats().Done == 101 })
	if got := w.Stats(); got.Invalid != 1 || got.Failed+got.Refused+got.Unlike+got.Poisoned != 0 {
		t.Errorf("worker: %+v", got)
	}
	if e.String() != "cp" {
		t.Errorf("it prints as %v, and a journal has the task's name", e)
	}
}

// Runs that begin at once on a server without streams make them together.
func TestRunsBeginAtOnce(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			e, err := nats.New(t.Context(), nats.Config{Server: server, Task: cp})
			if err != nil {
				t.Error(err)
				return
			}
			e.Close()
		})
	}
	all.Wait()
}

// What was paid for is not paid for again, by another run or by one that goes on. A sample or a run that is kept
// apart is another evaluation.
func TestNothingIsPaidForTwice(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	var made atomic.Int64
	slow := eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		made.Add(1)
		time.Sleep(20 * time.Millisecond)
		return length(ctx, program)
	})
	work(t, nats.WorkerConfig{Server: server, Evaluator: slow, Slots: 4})
	work(t, nats.WorkerConfig{Server: server, Evaluator: slow, Slots: 4})
	a, b := run(t, nats.Config{Server: server}), run(t, nats.Config{Server: server})
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { each(t, a, 50, "program") })
	}
	both.Wait()
	each(t, b, 50, "program")
	if got := made.Load(); got != 50 {
		t.Errorf("%d evaluations of 50 programs by two runs", got)
	}
	a.Close()
	c := run(t, nats.Config{Server: server})
	each(t, c, 50, "program")
	if got := c.Stats(); made.Load() != 50 || got.Recalled != 50 {
		t.Errorf("%d evaluations after a third run: %+v", made.Load(), got)
	}
	if _, err := c.EvaluateSample(t.Context(), "program 1", 1); err != nil || made.Load() != 51 {
		t.Errorf("another sample: %v, %d evaluations", err, made.Load())
	}
	each(t, run(t, nats.Config{Server: server, Apart: "again"}), 50, "program")
	if got := made.Load(); got != 101 {
		t.Errorf("%d evaluations after a run that is kept apart", got)
	}
}

// A run that is killed and goes on under its name finds the jobs that it had queued, and queues the others.
func TestARunThatGoesOnFindsItsJobs(t *testing.T) {
	t.Parallel()
	cfg := nats.Config{Server: nats.Server{URL: start(t, embedded.Config{}).URL()}, Run: "run.journal"}
	killed := run(t, cfg)
	nats.Queue(t, killed, "program 0", "program 1")
	nats.Kill(killed)
	e := run(t, cfg)
	var all sync.WaitGroup
	all.Go(func() { each(t, e, 3, "program") })
	until(t, "all are queued", func() bool { return nats.Queued(e) == 3 })
	if n := nats.Stored(t, e); n != 3 {
		t.Errorf("%d jobs are queued of 3 programs", n)
	}
	w, _ := work(t, nats.WorkerConfig{Server: cfg.Server, Evaluator: length})
	all.Wait()
	if got := e.Stats(); got.Done != 3 {
		t.Errorf("%+v", got)
	}
	until(t, "the worker has done three", func() bool { return w.Stats().Done == 3 })
	if other := run(t, nats.Config{Server: cfg.Server}); nats.RunOf(other) == nats.RunOf(e) {
		t.Errorf("a run without a name has the queue %s of another", nats.RunOf(e))
	}
}

// A run that goes on with another Lost, Timeout or Deaths has other jobs: those that were queued say the former ones to
// workers, which would report too seldom for the queue, and a program that harms nobody would come to have deaths.
func TestARunThatGoesOnOtherwiseHasOtherJobs(t *testing.T) {
	t.Parallel()
	cfg := nats.Config{Server: nats.Server{URL: start(t, embedded.Config{}).URL()}, Run: "run.journal",
		Lost: 10 * time.Second, Deaths: 1}
	killed := run(t, cfg)
	nats.Queue(t, killed, "slow")
	nats.Kill(killed)
	for name, other := range map[string]func(*nats.Config){
		"Timeout": func(c *nats.Config) { c.Timeout = time.Minute },
		"Deaths":  func(c *nats.Config) { c.Deaths = 2 },
		"Lost":    func(c *nats.Config) { c.Lost = 20 * time.Second },
	} {
		c := cfg
		other(&c)
		e := run(t, c)
		if nats.RunOf(e) == nats.RunOf(killed) {
			t.Errorf("with another %s it has the same queue", name)
		}
		if _, lost := nats.Unacknowledged(t, e); lost != c.Lost {
			t.Errorf("with another %s its queue gives a job again after %v, want %v", name, lost, c.Lost)
		}
	}
}

// A process that is started beside one of its name, and ends before it asks for anything, takes no jobs away from it.
func TestAProcessOfTheSameNameThatAsksForNothing(t *testing.T) {
	t.Parallel()
	cfg := nats.Config{Server: nats.Server{URL: start(t, embedded.Config{}).URL()}, Run: "run.journal"}
	e := run(t, cfg)
	var all sync.WaitGroup
	all.Go(func() { each(t, e, 3, "program") })
	until(t, "all are queued", func() bool { return nats.Queued(e) == 3 })
	if err := run(t, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	if n := nats.Stored(t, e); n != 3 {
		t.Errorf("%d jobs of 3 are left", n)
	}
	w, _ := work(t, nats.WorkerConfig{Server: cfg.Server, Evaluator: length})
	all.Wait()
	until(t, "the worker has done three", func() bool { return w.Stats().Done == 3 })
	if got := e.Stats(); got.Done != 3 || got.Redelivered != 0 {
		t.Errorf("%+v", got)
	}
}

// A run whose task nobody serves says so within seconds, with both digests.
func TestNobodyServes(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	other := nats.Task{Name: "cp", Digest: "fedcba9876543210"}
	e := run(t, nats.Config{Server: server, Unserved: 100 * time.Millisecond})
	_, err := e.Evaluate(t.Context(), "program")
	if err == nil || !strings.Contains(err.Error(), cp.Digest) || !strings.Contains(err.Error(), "no worker of the task") {
		t.Errorf("without workers: %v", err)
	}
	w, _ := work(t, nats.WorkerConfig{Server: server, Task: other, Evaluator: length})
	work(t, nats.WorkerConfig{Server: server, Task: nats.Task{Name: "ht", Digest: cp.Digest}, Evaluator: length})
	until(t, "the worker of another version has heard of the run", func() bool { return w.Stats().Unlike == 1 })
	e = run(t, nats.Config{Server: server, Unserved: 100 * time.Millisecond})
	until(t, "the run has heard of the worker", func() bool { return nats.Others(e) == 1 })
	_, err = e.Evaluate(t.Context(), "program")
	if err == nil || !strings.Contains(err.Error(), cp.Digest) || !strings.Contains(err.Error(), other.Digest) {
		t.Errorf("with a worker of another version: %v", err)
	}
	if got := w.Stats(); got.Done != 0 || got.Unlike != 2 {
		t.Errorf("the worker of another version: %+v", got)
	}
	work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	e = run(t, nats.Config{Server: server})
	each(t, e, 1, "program")
}

// An evaluation that its run gives up ends at the worker, and one that is queued is gone.
func TestACancelledEvaluationEndsAtTheWorker(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	begun, ended := make(chan string, 10), make(chan error, 10)
	w, _ := work(t, nats.WorkerConfig{Server: server,
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			begun <- program
			if program != "under way" {
				return length(ctx, program)
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return eval.Result{}, ctx.Err()
		})})
	e := run(t, nats.Config{Server: server})
	back := make(chan string, 2)
	var cancels []context.CancelCauseFunc
	var both sync.WaitGroup
	enough := errors.New("enough")
	for i, program := range []string{"under way", "queued"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancels = append(cancels, cancel)
		both.Go(func() {
			if _, err := e.Evaluate(ctx, program); !errors.Is(err, enough) {
				t.Errorf("%s: %v", program, err)
			}
			back <- program
		})
		until(t, "it is queued", func() bool { return nats.Queued(e) == i+1 })
		if program == "under way" {
			<-begun
		}
	}
	cancels[1](enough) // first, or the worker might take it
	<-back
	until(t, "it is not in the queue", func() bool { return nats.Stored(t, e) == 1 })
	cancels[0](enough)
	both.Wait()
	<-ended
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := e.Evaluate(ctx, "quick"); err != nil || r.Score != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := <-begun; got != "quick" {
		t.Errorf("%q was evaluated after it was given up", got)
	}
	if got := w.Stats(); got.Canceled != 1 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
}

// Time in the queue is told as waiting, so that a budget of evaluators' time does not count it.
func TestWaitingIsTold(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	begun, goOn := make(chan bool), make(chan bool)
	e := run(t, nats.Config{Server: server})
	var waits atomic.Int64
	ctx := llm.WithTrace(t.Context(), &llm.Trace{Queued: func() func() {
		waits.Add(1)
		return func() { waits.Add(-1) }
	}})
	var one sync.WaitGroup
	one.Go(func() { e.Evaluate(ctx, "program") })
	until(t, "it waits", func() bool { return waits.Load() == 1 })
	work(t, nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		begun <- true
		<-goOn
		return length(ctx, program)
	})})
	<-begun
	until(t, "it waits no more", func() bool { return waits.Load() == 0 })
	close(goOn)
	one.Wait()
}

// What is beyond the message limit goes through the object store; eval's bounds have cut it before.
func TestALargeResult(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	work(t, nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
		r := eval.Result{Score: 1, Valid: true, Artifacts: map[string]string{}, Cases: make([]float64, 2*eval.MaxCases)}
		for i := range 20 {
			r.Artifacts[fmt.Sprint(i)] = strings.Repeat("\x01", 100<<10) // six bytes each as JSON
		}
		return r, nil
	})})
	first := run(t, nats.Config{Server: server})
	for _, e := range []*nats.Evaluator{first, run(t, nats.Config{Server: server})} {
		r, err := e.Evaluate(t.Context(), "large")
		size := 0
		for _, text := range r.Artifacts {
			size += len(text)
		}
		if err != nil || !r.Valid || size < eval.MaxArtifactBytes/2 || size > eval.MaxArtifactBytes ||
			len(r.Cases) != eval.MaxCases {
			t.Errorf("%v with %d bytes of artifacts, %d cases: %v", r.Valid, size, len(r.Cases), err)
		}
	}
	if r, err := first.Evaluate(t.Context(), strings.Repeat("x", nats.MaxProgram+1)); err != nil || r.Valid ||
		!strings.Contains(r.Reason, "bytes") {
		t.Errorf("a program that is too long: %+v, %v", r, err)
	}
	if r, err := first.Evaluate(t.Context(), strings.Repeat("x", nats.MaxProgram)); err != nil || !r.Valid {
		t.Errorf("a program of the most bytes: %v, %v", r.Valid, err)
	}
}

// A run with many jobs does not hold up one with few.
func TestRunsAreServedInTurn(t *testing.T) {
	t.Parallel()
	server := nats.Server{URL: start(t, embedded.Config{}).URL()}
	var order []string
	many, few := run(t, nats.Config{Server: server}), run(t, nats.Config{Server: server})
	var all sync.WaitGroup
	all.Go(func() { each(t, many, 200, "many") })
	until(t, "the many are queued", func() bool { return nats.Queued(many) == 200 })
	all.Go(func() { each(t, few, 5, "few") })
	until(t, "the few are queued", func() bool { return nats.Queued(few) == 5 })
	hold := make(chan bool)
	work(t, nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		<-hold
		order = append(order, program) // one slot
		return length(ctx, program)
	})})
	until(t, "both runs have heard of the worker", func() bool { return many.Stats().Workers+few.Stats().Workers == 2 })
	close(hold)
	all.Wait()
	last := 0
	for i, program := range order {
		if strings.HasPrefix(program, "few") {
			last = i
		}
	}
	if last > 20 {
		t.Errorf("the last of the few was evaluated at place %d of %d", last, len(order))
	}
}

// A server that takes the connection and never answers holds neither up for longer than its context.
func TestConnectingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	patient := []natsgo.Option{natsgo.Timeout(time.Hour)}
	server := nats.Server{URL: "nats://" + l.Addr().String(), Options: patient}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := nats.New(ctx, nats.Config{Server: server, Task: cp}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a run: %v", err)
	}
	w, err := nats.NewWorker(nats.WorkerConfig{Server: server, Task: cp, Evaluator: length})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(ctx); err != nil {
		t.Errorf("a worker: %v", err)
	}
}

// The canaries of a run are scored by workers each time, although results are kept.
func TestCanariesSeeWorkersThatDrift(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	var drifted atomic.Bool
	work(t, nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		r, err := length(ctx, program)
		if drifted.Load() {
			r.Score++
		}
		return r, err
	})})
	e := eval.WithCanaries(run(t, nats.Config{Server: server}), eval.Canary{Program: "canary", Score: 6, Every: 2})
	each(t, e, 2, "program")
	drifted.Store(true)
	if _, err := e.Evaluate(t.Context(), "another"); !errors.Is(err, eval.ErrDrift) {
		t.Errorf("%v, want a drift", err)
	}
}

// A lines is where a logger writes.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// A run that could have more slots work says so, once, and one that has nothing more to queue does not.
func TestARunIsToldOfIdleSlots(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	work(t, nats.WorkerConfig{Server: server, Evaluator: large, Slots: 4})
	for _, inFlight := range []int{2, 3} {
		var log lines
		e := run(t, nats.Config{Server: server, InFlight: inFlight, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		until(t, "the worker is there", func() bool { return e.Stats().Slots == 4 })
		ctx, cancel := contextWithCancel(t)
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() { eval.EvaluateSample(ctx, e, "wait", i) })
		}
		until(t, "both are under way", func() bool { return e.Stats().Waiting == 2 })
		if inFlight == 2 {
			until(t, "the run is told", func() bool { return log.count("idle") > 0 })
		}
		time.Sleep(2500 * time.Millisecond) // in which it could be told twice more
		if got, want := log.count("slots=4"), 3-inFlight; got != want {
			t.Errorf("with %d in flight it is told %d times, want %d", inFlight, got, want)
		}
		cancel()
		all.Wait()
	}
}

// A run sees which slots are busy, and which of its jobs wait for one.
func TestStatsOfAJobThatBegins(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	h := newHeld()
	work(t, nats.WorkerConfig{Server: server, Evaluator: h})
	e := run(t, nats.Config{Server: server})
	until(t, "the worker is there", func() bool { return e.Stats().Workers == 1 })
	ctx, cancel := contextWithCancel(t)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() { e.Evaluate(ctx, fmt.Sprint("program ", i)) })
	}
	until(t, "a slot is busy and two jobs wait", func() bool {
		got := e.Stats()
		return got.Busy == 1 && got.Waiting == 3 && got.Begun == 1
	})
	cancel()
	all.Wait()
}
