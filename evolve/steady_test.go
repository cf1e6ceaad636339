package evolve_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

var steadySeeds = flag.Int("steady-seeds", 0,
	"how many seeds TestSteady plays on circle packing; 0: one, on a task that takes no time")

// heavyTail is the latency of TestSteady and of the benchmarks.
var heavyTail = runtest.HeavyTail

// 512 calls on 16 slots with heavy-tailed latencies: a barrier after every 64 leaves half the slots idle, and one
// steady-state step that takes children as they end none. The scores tell what it costs to brief a child before
// its elders are scored (staleness), and what it brings to brief it after them (freshness). A breadth that follows the
// search lies between the two.
func TestSteady(t *testing.T) {
	kinds := []struct {
		name   string
		n      int // children of a step
		window int
		order  evolve.Order
		b      evolve.Breadth
		least  float64 // slots busy, where that is promised
	}{
		{"T=8 N=64, a barrier after each step", 64, 0, evolve.ByIndex, nil, 0},
		{"T=1 N=512, window 64, AsTheyEnd", 512, 64, evolve.AsTheyEnd, nil, 15.5},
		{"T=1 N=512, window 64, ByIndex", 512, 64, evolve.ByIndex, nil, 0},
		{"T=1 N=512, window 16, AsTheyEnd", 512, 16, evolve.AsTheyEnd, nil, 15.5},
		{"T=1 N=512, window 16, ByIndex", 512, 16, evolve.ByIndex, nil, 0},
		{"T=512 N=1, one call after the other", 1, 0, evolve.ByIndex, nil, 0},
		{"T=1 N=512, all at once", 512, 0, evolve.ByIndex, nil, 15.5},
		{"Adaptive, time is worth nothing", 64, 0, evolve.ByIndex, breadth.Adaptive{}, 0},
		{"Adaptive, a second is worth 5 calls", 64, 0, evolve.ByIndex, breadth.Adaptive{Second: 5}, 0},
		{"Adaptive, a second is worth 25 calls", 64, 0, evolve.ByIndex, breadth.Adaptive{Second: 25}, 0},
	}
	tk, model, seeds := task.Task(newNumbers(t, "0")), llm.LLM(climber), 1
	if *steadySeeds > 0 {
		tk, model = packing(t)
		seeds = *steadySeeds
	}
	scores, slots, took := make([][]float64, len(kinds)), make([]float64, len(kinds)), make([]float64, len(kinds))
	for i, k := range kinds {
		for s := range seeds {
			synctest.Test(t, func(t *testing.T) {
				p := &runtest.Watched{LLM: model}
				l := llm.Limit(p, 16)
				g := newGreedy(t, evolve.GreedyConfig{Task: tk, LLM: l, N: k.n, Window: k.window, Order: k.order, Breadth: k.b,
					Seed: uint32(1000 + s)})
				begin := time.Now()
				res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 512}})
				took[i] += time.Since(begin).Seconds() / float64(seeds)
				busy := p.Busy()
				slots[i] += busy / float64(seeds)
				if res.Calls != 512 || busy < k.least {
					t.Errorf("%s: %.2f slots busy with %d calls, want at least %v", k.name, busy, res.Calls, k.least)
				}
				scores[i] = append(scores[i], res.Best.Result.Score)
			})
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d seeds\tslots busy\tseconds\tbest score\tagainst the barrier\n", seeds)
	for i, k := range kinds {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%s\t%s\n", k.name, slots[i], took[i], interval(scores[i]),
			interval(minus(scores[i], scores[0])))
	}
	if *steadySeeds > 0 {
		w.Flush()
	}
}

// packing is circle packing, and the stand-in for a model.
func packing(t testing.TB) (task.Task, llm.LLM) {
	t.Helper()
	runner, err := js.New(js.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cp, err := geometry.CirclePacking().Task(runner, "javascript")
	if err != nil {
		t.Fatal(err)
	}
	stand, err := offline.New(offline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return cp, stand
}

// minus returns the differences of pairs.
func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// interval prints a mean with its 95 % interval, by Student's t.
func interval(x []float64) string {
	mean, sd := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	if n < 2 {
		return fmt.Sprintf("%.4f", mean)
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * sd / math.Sqrt(n)
	return fmt.Sprintf("%.4f ± %.4f", mean, half)
}
