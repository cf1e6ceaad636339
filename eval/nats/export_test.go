package nats

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/eval"
)

// WithRoom returns c with room on the server for so many bytes of jobs and of large results.
func WithRoom(c Config, jobs, large int64) Config {
	c.storage = storage{jobs, large}
	return c
}

// Stopping reports whether w takes no more jobs.
func Stopping(w *Worker) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopping
}

// Queue queues programs for which nobody waits.
func Queue(t testing.TB, e *Evaluator, programs ...string) {
	t.Helper()
	for _, program := range programs {
		j := e.job(program, 0)
		_, next, err := e.table.join(j, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		e.pursue(t.Context(), j, next)
		for end := time.Now().Add(time.Minute); !queuedOrDone(e, j); e.review(t.Context()) {
			if time.Now().After(end) {
				t.Fatalf("%q is not queued", program)
			}
		}
	}
}

// queuedOrDone is also true for a job that a worker was quick with.
func queuedOrDone(e *Evaluator, j job) bool {
	e.table.mu.Lock()
	defer e.table.mu.Unlock()
	w := e.table.entries[j.Key]
	return w == nil || w.demand == nil || w.presence == queued
}

// Kill ends e as a kill does: without a word to the server.
func Kill(e *Evaluator) {
	e.stop()
	e.background.Wait()
	e.nc.Close()
}

// Queued returns how many jobs the server is known to have.
func Queued(e *Evaluator) int {
	e.table.mu.Lock()
	defer e.table.mu.Unlock()
	n := 0
	for _, w := range e.table.entries {
		if w.presence == queued {
			n++
		}
	}
	return n
}

// Stored returns how many jobs the server has.
func Stored(t *testing.T, e *Evaluator) int {
	t.Helper()
	s, err := e.js.Stream(t.Context(), e.cfg.Server.jobs())
	if err != nil {
		t.Fatal(err)
	}
	return int(s.CachedInfo().State.Msgs)
}

// Connected reports whether e has a connection.
func Connected(e *Evaluator) bool { return e.nc.IsConnected() }

// PassSilence has e take its workers for silent for as long as makes one count as gone.
func PassSilence(e *Evaluator) {
	e.table.mu.Lock()
	defer e.table.mu.Unlock()
	for from, s := range e.table.service.workers.states {
		s.heard = s.heard.Add(-silence)
		e.table.service.workers.states[from] = s
	}
}

// Others returns how many other versions of its task e has heard of.
func Others(e *Evaluator) int {
	return len(e.table.others())
}

// KeyOf returns the key of a program's first sample.
func KeyOf(program string) string { return keyOf("", program, 0) }

// Forge publishes what a worker never would.
func Forge(t *testing.T, e *Evaluator, subject, text string) {
	t.Helper()
	if err := e.nc.Publish(subject, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// ForgeJob queues a program under another's key.
func ForgeJob(t *testing.T, e *Evaluator, program, key string) {
	t.Helper()
	j := job{Task: e.cfg.Task, Key: key, Run: e.run, Program: program, Deaths: 1, Lost: minLost, Timeout: minLost}
	if err := storeNew(t.Context(), e.js, j.message(e.cfg.Server)); err != nil {
		t.Fatal(err)
	}
}

// Unacknowledged returns how many jobs of the run's queue workers have, and how long each may be silent.
func Unacknowledged(t *testing.T, e *Evaluator) (jobs int, lost time.Duration) {
	t.Helper()
	c, err := e.js.Consumer(t.Context(), e.cfg.Server.jobs(), e.run)
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo().NumAckPending, c.CachedInfo().Config.AckWait
}

// Attending returns how many slots wait at the run's queue for its next job.
func Attending(t *testing.T, e *Evaluator) int {
	t.Helper()
	c, err := e.js.Consumer(t.Context(), e.cfg.Server.jobs(), e.run)
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo().NumWaiting
}

// DropQueue removes the run's queue, as the server does when nobody has asked for it for long.
func DropQueue(t *testing.T, e *Evaluator) {
	t.Helper()
	if err := e.stream.DeleteConsumer(t.Context(), e.run); err != nil {
		t.Fatal(err)
	}
}

// Objects returns the names of the results in the object store.
func Objects(t *testing.T, e *Evaluator) (names []string) {
	t.Helper()
	store, err := e.cfg.Server.objects(t.Context(), e.js)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context())
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		t.Fatal(err)
	}
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}

// DropObject removes a result from the object store.
func DropObject(t *testing.T, e *Evaluator, name string) {
	t.Helper()
	store, err := e.cfg.Server.objects(t.Context(), e.js)
	if err == nil {
		err = store.Delete(t.Context(), name)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// StoreLate has a worker store a result of a program as if it had been silent and came back.
func StoreLate(t *testing.T, w *Worker, program string, r eval.Result) {
	t.Helper()
	j := job{Task: w.cfg.Task, Key: keyOf("", program, 0)}
	rec := w.record(&activeJob{job: j, tries: 2}, 0, r)
	if err := w.store(t.Context(), j, &rec); !isPresent(err) {
		t.Fatalf("a second result is stored: %v", err)
	}
}

// StoreTwice has a worker store a large result of a program, and once more, as if the server's answer had got lost.
func StoreTwice(t *testing.T, w *Worker, program string, r eval.Result) {
	t.Helper()
	j := job{Task: w.cfg.Task, Key: keyOf("", program, 0)}
	rec := w.record(&activeJob{job: j, tries: 1}, 0, r)
	first := w.store(t.Context(), j, &rec)
	if second := w.store(t.Context(), j, &rec); first != nil || !isPresent(second) {
		t.Fatalf("stored: %v, and once more: %v", first, second)
	}
}

// Calls returns a channel of the calls of a run, as they are heard by whom they are for.
func Calls(t *testing.T, url string, e *Evaluator) <-chan time.Time {
	t.Helper()
	s, err := Server{URL: url}.filled()
	if err != nil {
		t.Fatal(err)
	}
	nc, err := s.connect(t.Context(), asWorker, "ear", func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	heard := make(chan time.Time, 1000)
	if _, err := nc.Subscribe(s.subject("call", e.cfg.Task.token()), func(*nats.Msg) { heard <- time.Now() }); err != nil {
		t.Fatal(err)
	}
	return heard
}

// AskAll has the server asked about all jobs soon, as after a cut.
func AskAll(e *Evaluator) { e.table.recheck() }

// Sent returns how many messages a worker sent.
func Sent(w *Worker) uint64 { return w.nc.Stats().OutMsgs }

// Whole reads the object of a program whose record is there.
func Whole(ctx context.Context, e *Evaluator, program string) (eval.Result, error) {
	return e.resultOf(ctx, record{Key: KeyOf(program), Large: largePrefix(e.cfg.Task, KeyOf(program)) + "0"})
}

// CutOff has a worker lose its connection for good.
func CutOff(w *Worker) { w.nc.Close() }

// Running returns how many jobs a worker has, begun or not.
func Running(w *Worker) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.active)
}

// RunOf returns the name of the run's queue.
func RunOf(e *Evaluator) string { return e.run }

// Told returns the subject of what a key tells the run.
func Told(e *Evaluator, key string) string { return e.cfg.Server.subject("told", e.run, key) }
