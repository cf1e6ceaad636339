//go:build unix

package evolve_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

// BenchmarkResume measures how long a run is made again from its journal, in time and in processor time, the memory that
// it has from the system at the end, and the size of the journal.
func BenchmarkResume(b *testing.B) {
	b.Run("texts=20B", func(b *testing.B) { benchmarkResume(b, climber, 200_000) })
	b.Run("texts=1.2kB", func(b *testing.B) { benchmarkResume(b, long, 100_000) })
}

func benchmarkResume(b *testing.B, model llm.LLM, calls int) {
	path := journalPath(b)
	journaledRun(b, path, llm.Limit(model, 64), 10, 64, calls)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	never := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		b.Error("a call was made")
		return llm.Reply{}, io.EOF
	})
	var peak uint64
	var took float64
	for b.Loop() {
		runtime.GC()
		stop, before := watchHeap(&peak, false), processorSeconds(b)
		if res := journaledRun(b, path, never, 10, 64, calls); res.Calls != calls {
			b.Fatalf("%d calls", res.Calls)
		}
		took += processorSeconds(b) - before
		stop()
	}
	b.ReportMetric(took/float64(b.N), "processor-s/op")
	b.ReportMetric(float64(info.Size())/float64(calls), "journal-B/child")
	b.ReportMetric(float64(info.Size())/1e6, "journal-MB")
	b.ReportMetric(float64(peak)/1e6, "peak-heap-MB")
}

// processorSeconds is how long the process has run on processors, which a busy machine does not lengthen.
func processorSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
