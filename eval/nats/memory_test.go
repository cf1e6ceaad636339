package nats_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/nats"
)

// residentOf returns how many MiB of memory a process has.
func residentOf(t *testing.T, pid int) (mib int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
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

// ownPerJob is how many bytes a job may take beside its program and the stack of the goroutine that waits for it.
const ownPerJob = 8 << 10

// waiters has n goroutines wait, each with a program of 1 kB, as wait does. It returns once ready says that all do.
func waiters(n int, wait func(program string), ready func() bool) (end *sync.WaitGroup) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { wait(fmt.Sprintf("program %d %s", i, strings.Repeat("x", 1000))) })
	}
	for began := time.Now(); !ready() && time.Since(began) < 5*time.Minute; {
		time.Sleep(100 * time.Millisecond)
	}
	return &all
}

// callersAlone returns how many bytes each of n goroutines has that wait for nothing but a channel: what no evaluator
// can go below whose callers wait.
func callersAlone(n int) int64 {
	before := inUse()
	var waiting atomic.Int64
	over := make(chan bool)
	all := waiters(n, func(program string) {
		waiting.Add(1)
		<-over
		runtime.KeepAlive(program)
	}, func() bool { return int(waiting.Load()) == n })
	each := (int64(inUse()) - int64(before)) / int64(n)
	close(over)
	all.Wait()
	return each
}

// A run with many jobs stays small, whether they wait at the server or here for a place. With -long it prints how large
// 100,000 make it. The server is another process, and nobody takes the jobs.
func TestManyQueuedJobs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("how much memory a process has is read as Linux tells it")
	}
	n := 2000
	if *long {
		n = 100_000
	}
	server := nats.Server{URL: serverProcess(t, t.TempDir()).line}
	for _, inFlight := range []int{256, n} {
		t.Run(fmt.Sprint(inFlight, " in flight"), func(t *testing.T) {
			e := run(t, nats.Config{Server: server, InFlight: inFlight, Unserved: time.Hour})
			ctx, cancel := contextWithCancel(t)
			var asked atomic.Int64
			before, began := inUse(), time.Now()
			all := waiters(n, func(program string) {
				asked.Add(1)
				e.Evaluate(ctx, program)
			}, func() bool { return int(asked.Load()) == n && nats.Queued(e) == inFlight })
			took, got := time.Since(began), residentOf(t, os.Getpid())
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			each, queued := (int64(inUse())-int64(before))/int64(n), nats.Queued(e)
			nats.Kill(e) // quicker than taking each back
			cancel()
			all.Wait()
			alone := callersAlone(n)
			t.Logf("%d jobs of 1 kB, %d of them queued, in %v: %d MiB, of them %d in stacks and %d in the heap; %d bytes a job without garbage, of which %d are the caller's stack and program",
				n, queued, took.Round(time.Second/10), got, m.StackInuse>>20, m.HeapInuse>>20, each, alone)
			if queued != inFlight || each-alone > ownPerJob {
				t.Errorf("%d of %d jobs queued, with %d bytes each beside the caller's: want at most %d", queued, inFlight,
					each-alone, ownPerJob)
			}
		})
	}
}
