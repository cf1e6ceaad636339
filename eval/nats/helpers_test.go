package nats_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
)

// cp is a task of the tests.
var cp = nats.Task{Name: "cp", Digest: "0123456789abcdef"}

// start starts a server for the test.
func start(t testing.TB, cfg embedded.Config) *embedded.Server {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	s, err := embedded.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// local starts a server for a test that runs beside others.
func local(t *testing.T) nats.Server {
	t.Parallel()
	return nats.Server{URL: start(t, embedded.Config{}).URL()}
}

// run makes an Evaluator for the test.
func run(t testing.TB, cfg nats.Config) *nats.Evaluator {
	t.Helper()
	if cfg.Task == (nats.Task{}) {
		cfg.Task = cp
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Unserved == 0 {
		cfg.Unserved = time.Minute // a worker of a test may be slow to start
	}
	e, err := nats.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// work has a worker serve until the test, or what is returned, ends it. It returns its error then.
func work(t testing.TB, cfg nats.WorkerConfig) (w *nats.Worker, end func() error) {
	t.Helper()
	if cfg.Task == (nats.Task{}) {
		cfg.Task = cp
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	w, err := nats.NewWorker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	end = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { end() })
	return w, end
}

// length scores a program by its length, and finds one that begins with "bad" invalid.
var length = eval.Func(func(_ context.Context, program string) (eval.Result, error) {
	if strings.HasPrefix(program, "bad") {
		return eval.Invalid("it is bad"), nil
	}
	return eval.Result{Score: float64(len(program)), Valid: true, Artifacts: map[string]string{"seen": program}}, nil
})

// each evaluates n programs at once, and returns the number of those whose score is not their length.
func each(t testing.TB, e eval.Evaluator, n int, name string) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			program := fmt.Sprintf("%s %d", name, i)
			r, err := e.Evaluate(t.Context(), program)
			if err != nil || r.Score != float64(len(program)) || r.Artifacts["seen"] != program {
				t.Errorf("%q: %+v, %v", program, r, err)
			}
		})
	}
	all.Wait()
}

// until waits for something, for so long that only what never comes fails the test.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// queued returns how many jobs the server holds.
func queued(t testing.TB, s nats.Server) int {
	t.Helper()
	nc, err := natsgo.Connect(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := js.Stream(t.Context(), "EVOALLOC_JOBS")
	if err != nil {
		t.Fatal(err)
	}
	return int(jobs.CachedInfo().State.Msgs)
}

// held is an evaluator whose evaluations end when they are let go, with a score of 1, or with their contexts.
type held struct {
	begun   atomic.Int64
	release chan bool
}

func newHeld() *held { return &held{release: make(chan bool)} }

func (h *held) Evaluate(ctx context.Context, _ string) (eval.Result, error) {
	h.begun.Add(1)
	select {
	case <-h.release:
		return eval.Result{Score: 1, Valid: true}, nil
	case <-ctx.Done():
		return eval.Result{}, ctx.Err()
	}
}
