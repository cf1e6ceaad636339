//go:build unix

package nats_test

import (
	"context"
	"fmt"
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

// processor returns the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure has jobs done by so many goroutines, and reports how many a second, and what processor time of this process.
func measure(b *testing.B, atOnce int, do func() error) {
	var next atomic.Int64
	var all sync.WaitGroup
	before := processor(b)
	b.ResetTimer()
	for range atOnce {
		all.Go(func() {
			for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
				if err := do(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64((processor(b)-before).Microseconds())/float64(b.N), "cpu-µs/job")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkQueue scores trivial programs through the queue, with 16 workers, 1 and 64 jobs at once, beside plain requests
// at the same server.
func BenchmarkQueue(b *testing.B) {
	server := nats.Server{URL: start(b, embedded.Config{}).URL()}
	trivial := eval.Func(func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil })
	for range 16 {
		work(b, nats.WorkerConfig{Server: server, Evaluator: trivial})
	}
	e := run(b, nats.Config{Server: server})
	until(b, "the workers are there", func() bool { return e.Stats().Workers == 16 })
	nc, err := natsgo.Connect(server.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	for range 16 {
		nc.QueueSubscribe("plain", "workers", func(m *natsgo.Msg) { m.Respond([]byte("1")) })
	}
	var programs atomic.Int64 // as a benchmark is called again with a larger N
	for _, atOnce := range []int{1, 64} {
		b.Run(fmt.Sprintf("queue/%d", atOnce), func(b *testing.B) {
			measure(b, atOnce, func() error {
				_, err := e.Evaluate(b.Context(), fmt.Sprint("program ", programs.Add(1)))
				return err
			})
		})
		b.Run(fmt.Sprintf("request-reply/%d", atOnce), func(b *testing.B) {
			measure(b, atOnce, func() error {
				_, err := nc.Request("plain", []byte("program"), time.Minute)
				return err
			})
		})
	}
}
