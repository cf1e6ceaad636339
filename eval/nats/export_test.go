package nats

import (
	"testing"
	"time"
)

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
		w, _, err := e.join(program, 0)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); !queuedOrDone(e, w); e.post(t.Context(), w) {
			if time.Now().After(end) {
				t.Fatalf("%q is not queued", program)
			}
		}
	}
}

// queuedOrDone is also true for a job that a worker was quick with.
func queuedOrDone(e *Evaluator, w *waiting) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return w.queue != "" || w.over
}

// Kill ends e as a kill does: without a word to the server.
func Kill(e *Evaluator) {
	e.end()
	e.ended.Wait()
	e.nc.Close()
}

// Queued returns how many jobs the server is known to have.
func Queued(e *Evaluator) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, w := range e.jobs {
		if w.queue != "" {
			n++
		}
	}
	return n
}

// Stored returns how many jobs the server has.
func Stored(t *testing.T, e *Evaluator) int {
	t.Helper()
	js, err := api(e.nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), e.cfg.Server.jobs())
	if err != nil {
		t.Fatal(err)
	}
	return int(s.CachedInfo().State.Msgs)
}

// Others returns how many other versions of its task e has heard of.
func Others(e *Evaluator) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.others)
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
	if err := storeNew(t.Context(), e.nc, j.message(e.cfg.Server), ""); err != nil {
		t.Fatal(err)
	}
}
