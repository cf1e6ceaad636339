//go:build unix

package openai_test

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// The load of BenchmarkInFlight.
const (
	inFlight      = 512
	loadedLatency = 50 * time.Millisecond
)

// BenchmarkInFlight keeps 512 calls in flight at a server in another process that answers after
// 50 ms. It reports the wall time as a multiple of the ideal (calls · 50 ms / 512), the processor
// time that this process uses for a call, the most memory that it held in heap and stacks at a time,
// above what it held before, and how many of the 512 places the server saw in use.
//
//	go test -run '^$' -bench InFlight -benchtime 5000x -benchmem ./llm/openai
func BenchmarkInFlight(b *testing.B) {
	for _, name := range []string{"net-http", "openai", "stack", "streamed"} {
		b.Run(name, func(b *testing.B) {
			url, stats := elsewhere(b, loadedLatency)
			l := loaded(b, name, url)
			b.ReportAllocs()
			peak := watchMemory()
			cpu := cpuTime()
			start := time.Now()
			if err := sendMany(b, l, b.N); err != nil {
				b.Fatal(err)
			}
			wall, used := time.Since(start), cpuTime()-cpu
			b.StopTimer()
			ideal := float64(b.N) * float64(loadedLatency) / inFlight
			b.ReportMetric(float64(wall)/ideal, "x-ideal")
			b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(peak())/(1<<20), "peak-MB")
			b.ReportMetric(stats().Busy, "busy")
		})
	}
}

// loaded is a way to make a call.
func loaded(tb testing.TB, name, url string) llm.LLM {
	switch name {
	case "net-http":
		return plain(tb, url)
	case "openai":
		return newClient(tb, url, model)
	case "streamed":
		return newStreamer(tb, url, model, openai.Stream{})
	}
	return llm.Retry(llm.Limit(newClient(tb, url, model), inFlight), llm.RetryConfig{})
}

// sendMany makes n calls, 512 at a time.
func sendMany(tb testing.TB, l llm.LLM, n int) error {
	var g errgroup.Group
	g.SetLimit(inFlight)
	for i := range n {
		g.Go(func() error {
			req := request
			req.Seed = uint32(i)
			_, err := l.Generate(tb.Context(), req)
			return err
		})
	}
	return g.Wait()
}

// watchMemory samples what heap and stacks hold, until the function that it returns is called, which
// returns the most above what they held at first.
func watchMemory() (peak func() int64) {
	runtime.GC()
	before := memory()
	most, stop, done := before, new(atomic.Bool), make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			most = max(most, memory())
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return func() int64 {
		stop.Store(true)
		<-done
		return most - before
	}
}

// memory is what spans of the heap in use and stacks take. Unlike runtime.ReadMemStats it does not
// stop the world, which would be in all figures.
func memory() (sum int64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		sum += int64(s.Value.Uint64())
	}
	return sum
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestNoGoroutineIsLeftAfterManyCalls(t *testing.T) {
	for _, name := range []string{"stack", "streamed"} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			url, stats := elsewhere(t, loadedLatency)
			n := notrun.Length(inFlight/2, 2*inFlight)
			if err := sendMany(t, loaded(t, name, url), n); err != nil {
				t.Fatal(err)
			}
			if s := stats(); s.Calls != n || s.InFlight != 0 || s.MaxInFlight > inFlight {
				t.Errorf("%+v", s)
			}
		})
	}
}
