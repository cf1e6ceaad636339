package nats_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

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

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

// large scores each program with 1, "large" with more than a message holds, and "wait" never.
var large = eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
	r := eval.Result{Score: 1, Valid: true}
	switch program {
	case "wait":
		<-ctx.Done()
		return r, ctx.Err()
	case "large":
		r.Artifacts = map[string]string{}
		for i := range 4 {
			r.Artifacts[fmt.Sprint(i)] = strings.Repeat("\x01", 60<<10) // six bytes each as JSON
		}
	}
	return r, nil
})

// address returns the host and port of a URL.
func address(of string) string {
	u, err := url.Parse(of)
	if err != nil {
		panic(err)
	}
	return u.Host
}

// through returns the URL of a server by way of a proxy that listens on l.
func through(server string, l net.Listener) string {
	return strings.Replace(server, address(server), l.Addr().String(), 1)
}
