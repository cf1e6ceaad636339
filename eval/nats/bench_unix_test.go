//go:build unix

package nats_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
)

// trivial scores at once.
var trivial = eval.Func(func(context.Context, string) (eval.Result, error) {
	return eval.Result{Score: 1, Valid: true}, nil
})

// quantiles reports what a share of durations stays below.
func quantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "jobs/s")
}

// processor returns the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure has jobs done by so many goroutines, and reports how long each took, and what processor time of this process.
func measure(b *testing.B, atOnce int, do func(i int)) {
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var all sync.WaitGroup
	before := processor(b)
	b.ResetTimer()
	for range atOnce {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				began := time.Now()
				do(i)
				took[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64((processor(b)-before).Microseconds())/float64(b.N), "cpu-µs/job")
	quantiles(b, took)
}

// BenchmarkQueue scores trivial programs through the queue, with 16 workers, 1, 16 and 64 jobs at once, beside
// plain requests of NATS.
func BenchmarkQueue(b *testing.B) {
	for _, atOnce := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("queue/%d", atOnce), func(b *testing.B) {
			s := start(b, embedded.Config{})
			server := nats.Server{URL: s.URL()}
			for range 16 {
				work(b, nats.WorkerConfig{Server: server, Evaluator: trivial})
			}
			e := run(b, nats.Config{Server: server})
			until(b, "the workers are there", func() bool { return e.Stats().Workers == 16 })
			measure(b, atOnce, func(i int) {
				if _, err := e.Evaluate(b.Context(), fmt.Sprint("program ", i)); err != nil {
					b.Error(err)
				}
			})
		})
		b.Run(fmt.Sprintf("request-reply/%d", atOnce), func(b *testing.B) {
			s := start(b, embedded.Config{})
			nc, err := natsgo.Connect(s.URL())
			if err != nil {
				b.Fatal(err)
			}
			defer nc.Close()
			for range 16 {
				wc, err := natsgo.Connect(s.URL())
				if err != nil {
					b.Fatal(err)
				}
				defer wc.Close()
				wc.QueueSubscribe("plain", "workers", func(m *natsgo.Msg) { m.Respond([]byte("1")) })
				wc.Flush()
			}
			measure(b, atOnce, func(i int) {
				if _, err := nc.Request("plain", fmt.Append(nil, "program ", i), time.Minute); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// BenchmarkRun is as BenchmarkQueue at 64 at once, with the server and the workers in processes of their own: the
// processor time is that of the run alone.
func BenchmarkRun(b *testing.B) {
	s := serverProcess(b, b.TempDir())
	child(b, manyFor+"="+s.line, manyAre+"="+crew{workers: 16}.String(), logsTo+"="+filepath.Join(b.TempDir(), "log"))
	e := run(b, nats.Config{Server: nats.Server{URL: s.line}})
	until(b, "the workers are there", func() bool { return e.Stats().Workers == 16 })
	var programs atomic.Int64 // as a benchmark is called again with a larger N
	measure(b, 64, func(int) {
		if _, err := e.Evaluate(b.Context(), fmt.Sprint("program ", programs.Add(1))); err != nil {
			b.Error(err)
		}
	})
}
