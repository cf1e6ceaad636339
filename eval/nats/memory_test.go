package nats_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/nats"
)

// resident returns how many MiB of memory this process has.
func resident(t *testing.T) (mib int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	if _, err := fmt.Sscan(rest, &mib); err != nil {
		t.Fatal(err)
	}
	return mib >> 10
}

// inUse returns how many bytes the heap's live objects and the stacks have.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// perJob is how many bytes a job of 1 kB may take, with the stack of the goroutine that asks for it.
const perJob = 24 << 10

// A run with many jobs queued stays small: with -long it prints how large 100,000 make it. The server is another process,
// and nobody takes the jobs.
func TestManyQueuedJobs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("how much memory a process has is read as Linux tells it")
	}
	n := 500
	if *long {
		n = 100_000
	}
	url, _ := serverProcess(t, t.TempDir())
	e := run(t, nats.Config{Server: nats.Server{URL: url}, InFlight: n, Unserved: time.Hour})
	ctx, cancel := contextWithCancel(t)
	before := inUse()
	var all sync.WaitGroup
	began := time.Now()
	for i := range n {
		all.Go(func() { e.Evaluate(ctx, fmt.Sprintf("program %d %s", i, strings.Repeat("x", 1000))) })
	}
	for nats.Queued(e) < n && time.Since(began) < 5*time.Minute {
		time.Sleep(100 * time.Millisecond)
	}
	got := resident(t)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	each := (int64(inUse()) - int64(before)) / int64(n)
	t.Logf("%d jobs of 1 kB queued in %v: %d MiB, of them %d in stacks and %d in the heap, %d bytes a job without garbage",
		nats.Queued(e), time.Since(began).Round(time.Second/10), got, m.StackInuse>>20, m.HeapInuse>>20, each)
	if nats.Queued(e) != n || each > perJob {
		t.Errorf("%d of %d jobs queued, with %d bytes each: want at most %d", nats.Queued(e), n, each, perJob)
	}
	nats.Kill(e) // quicker than taking each back
	cancel()
	all.Wait()
}
