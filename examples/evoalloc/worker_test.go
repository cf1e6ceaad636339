package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

// A worker scores what a run with the same flags sends, as the run would itself. A run with other flags is not served.
func TestAWorkerServesARunWithTheSameFlags(t *testing.T) {
	s, err := embedded.Start(embedded.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runWorker(ctx, []string{"--nats", s.URL(), "--slots", "2", "--eval-timeout", "20s"}) }()
	for _, args := range []string{"--eval-timeout 20s", "--eval-timeout 30s"} {
		served := args == "--eval-timeout 20s"
		o, err := parseBandit(append(strings.Fields(args), "--nats", s.URL()))
		if err != nil {
			t.Fatal(err)
		}
		tk, end, err := open.Task(ctx, &o.Options)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		want, err := tk.Evaluate(ctx, tk.Initial())
		if err != nil {
			t.Fatal(err)
		}
		scorer, leave, err := remote.Evaluator(ctx, &o.Options, tk)
		if err != nil {
			t.Fatal(err)
		}
		got, err := scorer.Evaluate(ctx, tk.Initial())
		answered := func() bool {
			return served && err == nil || !served && err != nil && strings.Contains(err.Error(), "those that answer at")
		}
		for end := time.Now().Add(time.Minute); !answered() && time.Now().Before(end); { // the worker starts slowly, perhaps
			got, err = scorer.Evaluate(ctx, tk.Initial())
		}
		switch {
		case served && (err != nil || got.Score != want.Score || !got.Valid):
			t.Errorf("%s: %+v, %v, want %+v", args, got, err, want)
		case !served && !answered():
			t.Errorf("%s: %+v, %v, want it refused", args, got, err)
		}
		leave()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestBadWorkerFlags(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"", "--nats"},
		{"--nats embedded", "URL"},
		{"--nats nats://127.0.0.1:1 --slots 0", "--slots"},
		{"--nats nats://127.0.0.1:1 --task text", "key stays"},
		{"--nats nats://127.0.0.1:1 --task nowhere", "nowhere"},
		{"--nats nats://127.0.0.1:1 --canary high", "--canary"},
	} {
		err := runWorker(t.Context(), strings.Fields(tt.args))
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want it to say %s", tt.args, err, tt.says)
		}
	}
	printed := runtest.Output(t, func() {
		refused(t, "no server", runWorker(t.Context(), strings.Fields("--nats nats://127.0.0.1:1")), "127.0.0.1:1")
	})
	if strings.Contains(printed, "serves") {
		t.Errorf("without a server it prints %s", printed)
	}
}

func TestWorkersLine(t *testing.T) {
	s := nats.WorkerStats{Done: 30, Invalid: 2, Unlike: 1}
	if got := line(s, 15, 60e9); !strings.HasPrefix(got, "30 scored, 0.25 a second, 2 of them invalid") ||
		!strings.HasSuffix(got, "1 runs of another version") {
		t.Error(got)
	}
}

// A worker whose evaluator does not come to the known score takes no job.
func TestAWorkerWithAWrongCanaryEnds(t *testing.T) {
	err := runWorker(t.Context(), strings.Fields("--nats nats://127.0.0.1:1 --canary 123"))
	if !errors.Is(err, eval.ErrDrift) {
		t.Errorf("%v, want a drift", err)
	}
}
