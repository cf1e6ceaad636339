package report_test

import (
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// large returns the result of two arms that made so many children, n to a generation, one in ten of which
// took two attempts.
func large(many, n int) (*evolve.Result, report.BanditHeader) {
	r := &evolve.Result{Arms: make([]evolve.ArmResult, 2)}
	usage := &llm.Usage{PromptTokens: 1000, CachedTokens: 640, CompletionTokens: 200}
	for i := range many / n {
		arm := &r.Arms[i%2]
		g := evolve.Generation{Index: len(arm.Generations) + 1, Children: make([]evolve.Child, n), Elapsed: time.Second}
		for j := range g.Children {
			c := evolve.Child{Index: j, Seed: uint32(i*n + j)}
			c.Program, c.Result = "x", eval.Result{Valid: true, Score: float64(j) / 7}
			if j%10 == 0 {
				c.Attempts = append(c.Attempts, llm.Attempt{Status: llm.Timeout, MaxTokens: 16_000, Latency: time.Minute,
					Err: "no answer in 1m0s", Endpoint: "http://a/v1"})
			}
			c.Attempts = append(c.Attempts, llm.Attempt{Status: llm.OK, Usage: usage, FinishReason: "stop",
				Latency: time.Second, MaxTokens: 16_000, Model: "tiny", Endpoint: "http://a/v1"})
			g.Children[j] = c
		}
		r.Rounds = append(r.Rounds, evolve.Round{Pull: bandit.Pull{Arm: i % 2, Prob: 0.5}, Generation: len(arm.Generations)})
		arm.Generations = append(arm.Generations, g)
	}
	return r, report.BanditHeader{Header: report.Header{Task: "sum", Model: tiny, T: many / n, N: n}, Algo: "ucb",
		ArmSeeds: []uint32{40, 41}}
}

// BenchmarkSave makes and saves the report of a run of 200,000 children. peak-MB is by how much the heap
// grew at most while it did.
func BenchmarkSave(b *testing.B) {
	const many = 200_000
	for _, bb := range []struct {
		name string
		n    int
	}{{"generations of 64", 64}, {"one generation an arm", many / 2}} {
		b.Run(bb.name, func(b *testing.B) {
			r, header := large(many, bb.n)
			path := filepath.Join(b.TempDir(), "result.json")
			b.ReportAllocs()
			peak := watchHeap()
			for b.Loop() {
				if err := result.Save(path, report.NewBandit(r, header)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak())/1e6, "peak-MB")
		})
	}
}

// watchHeap looks at the heap until the function it returns is called, which returns by how many bytes
// it grew at most.
func watchHeap() (peak func() uint64) {
	runtime.GC()
	begin := heap()
	stop, grown := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			select {
			case <-stop:
				grown <- most
				return
			case <-time.After(time.Millisecond):
				most = max(most, max(heap(), begin)-begin)
			}
		}
	}()
	return func() uint64 { close(stop); return <-grown }
}

// heap returns how many bytes are in objects, dead ones that were not yet swept included.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
