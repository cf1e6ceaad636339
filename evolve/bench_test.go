package evolve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

func openJournal(b testing.TB, path string) *journal.Journal {
	b.Helper()
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		b.Fatal(err)
	}
	return j
}

// BenchmarkDurableCompletions measures replies of 2 KB that are on disk before they are acted on.
func BenchmarkDurableCompletions(b *testing.B) {
	reply := ok(strings.Repeat("x", 2000), 1)
	for _, writers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			j := (*record.Journal)(openJournal(b, journalPath(b)))
			defer j.Close()
			calls := make(chan int)
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for n := range calls {
						id := j.Claim(record.KeyOf(fmt.Sprint(n)))
						if err := j.Write(id, record.Record{Kind: record.Completion, Reply: &reply}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			n := 0
			for b.Loop() {
				calls <- n
				n++
			}
			close(calls)
			wg.Wait()
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "durable/s")
		})
	}
}

// long answers as climber does, with programs of 1.2 kB.
var long = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
	u := float64(req.Seed) / (1 << 32)
	return ok(fmt.Sprintf("```text\n%.1200f\n```", parent(req)+u-0.9), req.Seed), nil
})

// journaledRun makes or resumes a run of k arms with the journal at path, "" for none.
func journaledRun(b testing.TB, path string, l llm.LLM, k, n, calls int) *evolve.Result {
	b.Helper()
	var j *journal.Journal
	if path != "" {
		j = openJournal(b, path)
		defer j.Close()
	}
	list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(b, "0"), LLM: l, N: n, Seed: 40}, k)
	if err != nil {
		b.Fatal(err)
	}
	return mustRun(b, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Journal: j, Budget: evolve.Budget{Calls: calls}})
}

// watchHeap keeps the largest heap that it sees until stop is called; live means without garbage.
func watchHeap(peak *uint64, live bool) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if live {
				runtime.GC()
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*peak = max(*peak, m.HeapInuse+m.StackInuse)
			select {
			case <-done:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// BenchmarkJournalOverhead compares a run over real HTTP with replies that take 50 ms with and without
// a journal, in turn.
func BenchmarkJournalOverhead(b *testing.B) {
	_, l := connect(b, llmtest.Config{Reply: improve, Latency: llmtest.Constant(50 * time.Millisecond)}, llm.Models()[0],
		16, llm.RetryConfig{})
	var with, without time.Duration
	for b.Loop() {
		begin := time.Now()
		journaledRun(b, "", l, 4, 64, 512)
		without += time.Since(begin)
		begin = time.Now()
		journaledRun(b, filepath.Join(b.TempDir(), "run.journal"), l, 4, 64, 512)
		with += time.Since(begin)
	}
	b.ReportMetric(100*(with.Seconds()/without.Seconds()-1), "%overhead")
}

// serveEnv makes this program a server for BenchmarkInFlight.
const serveEnv = "EVOLVE_SERVE"

// TestServe is not a test but the server of BenchmarkInFlight, in a process of its own.
func TestServe(t *testing.T) {
	if os.Getenv(serveEnv) == "" {
		return
	}
	srv := llmtest.NewServer(llmtest.Config{Reply: improve, Latency: llmtest.Constant(20 * time.Second)})
	fmt.Println("URL", srv.URL)
	io.Copy(io.Discard, os.Stdin) // until the benchmark ends
	srv.Close()
	os.Exit(0)
}

// serve starts the server and returns its URL.
func serve(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServe$")
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stdin.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "URL ")
	if err != nil || !found {
		b.Fatalf("the server said %q, %v", line, err)
	}
	return url
}

// maxInFlight asks the server how many requests it had in flight at most.
func maxInFlight(b *testing.B, url string) int {
	b.Helper()
	resp, err := http.Get(url + "/stats")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var stats llmtest.Stats
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
		b.Fatal(err)
	}
	return stats.MaxInFlight
}

// BenchmarkInFlight measures the memory of 10,000 calls in flight at a server in another process, with
// a journal, and checks that none is lost.
func BenchmarkInFlight(b *testing.B) {
	const calls = 10_000
	url := serve(b)
	client, err := openai.New(openai.Config{Seed: true, BaseURL: url, Model: llm.Models()[0], Whole: true})
	if err != nil {
		b.Fatal(err)
	}
	var peak, before uint64
	for b.Loop() {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		before = m.HeapInuse + m.StackInuse
		peak = 0
		stop := watchHeap(&peak, true)
		res := journaledRun(b, filepath.Join(b.TempDir(), "run.journal"), client, 1, calls, calls)
		stop()
		answered := 0
		for a := range res.Attempts {
			if a.Status == llm.OK {
				answered++
			}
		}
		if answered != calls {
			b.Fatalf("%d of %d calls were answered", answered, calls)
		}
	}
	b.ReportMetric(float64(peak-before)/calls/1000, "kB/call")
	b.ReportMetric(float64(maxInFlight(b, url)), "most-in-flight")
}
