//go:build unix

package population

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// crowd is a search over an archive of n members, each an edit of an earlier one, and the edits that are to come.
func crowd(tb testing.TB, cfg Config, n int) (*Population, []string) {
	tb.Helper()
	programs := family(2*n, 200, rand.New(rand.NewPCG(1, 1)))
	var err error
	if cfg.Task, err = task.New(task.Spec{Name: "crowd", Language: "javascript", Initial: programs[0],
		Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
			return eval.Result{Valid: true}, nil
		})}); err != nil {
		tb.Fatal(err)
	}
	cfg.LLM = llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, nil })
	cfg.Start = &eval.Candidate{Program: programs[0], Result: eval.Result{Valid: true}}
	p, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.Start(tb.Context(), nil); err != nil {
		tb.Fatal(err)
	}
	p.step.pending = make(map[int]*expected)
	for i, program := range programs[:n] {
		bear(tb, p, program, i)
	}
	return p, programs[n:]
}

// bear takes a program through all that a Population does to a child, but for the call and the evaluation.
func bear(tb testing.TB, p *Population, program string, i int) (why string) {
	b := p.brief(tb.Context(), nil, i)
	if b.From == nil {
		tb.Fatal("the search has failed")
	}
	if b.Admit != nil {
		var err error
		if why, err = b.Admit(tb.Context(), program); err != nil {
			tb.Fatal(err)
		}
	}
	c := evolve.Child{ID: p.born, Parents: b.From, Operator: b.Operator, Err: why,
		Attempts: []llm.Attempt{{Status: llm.OK}},
		Candidate: eval.Candidate{Program: program, Result: eval.Result{Valid: true,
			Score: rand.New(rand.NewPCG(2, uint64(p.born))).NormFloat64()}}}
	p.take(tb.Context(), nil, c)
	return why
}

// BenchmarkChild measures what archive, selection, gates and lineage cost a child at 10,000 members. Compare the
// lines with the first one, greedy search:
//
//	go test -run xxx -bench BenchmarkChild ./evolve/population
func BenchmarkChild(b *testing.B) {
	const members = 10_000
	gates := func() []Gate { return []Gate{&Unlike{Most: 0.999}} }
	for _, tt := range []struct {
		name string
		cfg  Config
	}{
		{"greedy", Config{}},
		{"All,Weighted", Config{Archive: All(), Select: Weighted(10)}},
		{"All,Uniform", Config{Archive: All(), Select: Uniform(),
			Operators: []Operator{Rewrite{}, Explore{}}}},
		{"Top,gates", Config{Archive: Top(40), Gates: gates()}},
		{"all", Config{Archive: All(), Select: Uniform(), Gates: gates(), Memory: []Memory{&Attempts{}},
			Operators: []Operator{Rewrite{}, Explore{}, Cross{}}}},
		{"All,Cross,Merge", Config{Archive: All(), Select: Uniform(),
			Operators: []Operator{Rewrite{}, Cross{}, &Merge{}}}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			p, next := crowd(b, tt.cfg, members)
			i := 0
			b.ResetTimer()
			begin := processorTime()
			for b.Loop() {
				bear(b, p, next[i%len(next)], i)
				i++
			}
			b.ReportMetric(float64(processorTime()-begin)/float64(i), "cpu-ns/op")
		})
	}
}

// TestMemory bounds what a search of many children holds: programs that left the archive are forgotten, but for
// the newest ones that Unlike compares with and up to 64 MiB of those that children were made of.
func TestMemory(t *testing.T) {
	children, most := notrun.Length(8_000, 100_000), notrun.Length(6.4, 40)
	p, next := crowd(t, Config{Archive: Top(40), Select: Uniform(), Gates: []Gate{&Unlike{Most: 0.999, Of: 500}},
		Memory:    []Memory{&Attempts{}},
		Operators: []Operator{Rewrite{}, Explore{}, Cross{}}}, 1000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range children {
		bear(t, p, fmt.Sprintf("%s; x = %d", next[i%len(next)], i), i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)) / (1 << 20)
	t.Logf("%d children take %.1f MiB", children, grown)
	if grown > most {
		t.Errorf("%d children take %.1f MiB, want at most %v", children, grown, most)
	}
	runtime.KeepAlive(p)
}

// processorTime is how long the process has run on processors, which a busy machine does not lengthen.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
