package sweep_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

var throughput = flag.Int("throughput", 0,
	"how many seeds of the 7 splits of 64 calls TestThroughput sweeps; 286 make 2,002 runs")

// What TestThroughput evaluates: at most so many at once, each so long.
const (
	places = 16
	each   = 20 * time.Millisecond
)

// A sweep keeps the limit on evaluations busy, with an evaluation of 20 ms and a model that answers at once, in memory
// that does not grow with the number of runs. What counts is the share of the time in which places are taken, as the
// evaluations measure it themselves: on a busy machine 20 ms take longer, and that is not the sweep's doing. With few seeds
// only the counts are checked: the last runs leave places empty, whatever is done.
func TestThroughput(t *testing.T) {
	seeds := max(*throughput, 1)
	slow, spent := slowTask(t)
	plan := sweep.Plan{Tasks: []task.Task{slow}, Models: []sweep.Model{distinct()}, Methods: sweep.Splits(64),
		Budgets: []int{64}}
	for seed := range uint32(seeds) {
		plan.Seeds = append(plan.Seeds, seed)
	}
	watch, runs := newWatch(), &crowd{}
	begin := time.Now()
	result, err := plan.Run(t.Context(), sweep.Config{Dir: t.TempDir(), Evaluations: places, Observer: runs.observe})
	took := time.Since(begin)
	heap, files := watch.end()
	if err != nil {
		t.Fatal(err)
	}
	n := int(spent.n.Load())
	if want := 7 * seeds * 65; n != want || result.Finished != 7*seeds {
		t.Errorf("%d evaluations in %d runs, want %d in %d", n, result.Finished, want, 7*seeds)
	}
	mean := time.Duration(spent.time.Load()) / time.Duration(n)
	taken := float64(spent.time.Load()) / float64(places*took)
	t.Logf("%d runs, %d evaluations of %.1f ms in %.1f s: %.1f %% of the limit's throughput",
		result.Finished, n, float64(mean)/1e6, took.Seconds(), 100*taken)
	t.Logf("at most %d runs at once, %d files open, %d MB of heap and stacks, %s", runs.most, files, heap>>20, peak())
	if *throughput > 100 && taken < 0.9 {
		t.Errorf("%.1f %% of the limit's throughput: less than 90 %%", 100*taken)
	}
}

// A crowd counts how many runs are under way at once.
type crowd struct{ now, most int }

func (c *crowd) observe(e sweep.Event) {
	switch e.Kind {
	case sweep.EventBegin:
		c.now++
		c.most = max(c.most, c.now)
	case sweep.EventEnd:
		c.now--
	}
}

// spent counts evaluations, and sums how long they took.
type spent struct{ n, time atomic.Int64 }

// slowTask has programs whose evaluation takes 20 ms.
func slowTask(t *testing.T) (task.Task, *spent) {
	t.Helper()
	var s spent
	tk, err := task.New(task.Spec{Name: "slow", Language: "text", Initial: "start",
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			begin := time.Now()
			defer func() {
				s.n.Add(1)
				s.time.Add(int64(time.Since(begin)))
			}()
			select {
			case <-time.After(each):
				return eval.Result{Valid: true, Score: float64(len(program))}, nil
			case <-ctx.Done():
				return eval.Result{}, ctx.Err()
			}
		})})
	if err != nil {
		t.Fatal(err)
	}
	return tk, &s
}

// distinct is a model that answers at once, with another program for each seed.
func distinct() sweep.Model {
	return sweep.Model{Spec: llm.Model{Key: "quick", ActiveParams: 1},
		LLM: llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			return llm.Reply{Text: fmt.Sprintf("```text\n%d\n```", req.Seed),
				Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 50, CompletionTokens: 5}}}}, nil
		})}
}

// A watch looks at memory and open files from time to time.
type watch struct {
	stop, gone chan struct{}
	heap       uint64
	files      int
}

func newWatch() *watch {
	w := &watch{stop: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(w.gone)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			w.heap = max(w.heap, m.HeapInuse+m.StackInuse)
			if open, err := os.ReadDir("/proc/self/fd"); err == nil {
				w.files = max(w.files, len(open))
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-w.stop:
				return
			}
		}
	}()
	return w
}

// end returns the most memory in use, heap and stacks, and the most files open.
func (w *watch) end() (heap uint64, files int) {
	close(w.stop)
	<-w.gone
	return w.heap, w.files
}

// peak says how much memory the process had at most, where the system tells.
func peak() string {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		if kb, found := strings.CutPrefix(line, "VmHWM:"); found {
			return "peak RSS " + strings.TrimSpace(kb)
		}
	}
	return "peak RSS not known"
}
