package python

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// freshScript evaluates one program the plain way: in an interpreter started for it.
const freshScript = `
import json, sys
space = {"__name__": "program"}
exec(compile(open(sys.argv[1]).read(), "program.py", "exec"), space)
print(json.dumps(space[sys.argv[2]](), default=lambda x: x.tolist()))
`

// floorScript is what no pool can do without: an interpreter with the same imports forks, the child
// evaluates the program and exits, and the parent waits for it. Nothing is sent, and nothing contained.
// The parts are also measured alone, a fork that does nothing and an evaluation without one: their sum
// is less than the whole, as what is touched after a fork is copied.
const floorScript = `
import gc, os, sys
import numpy, scipy
program, entry = open(sys.argv[1]).read(), sys.argv[2]
def evaluate():
    space = {"__name__": "program"}
    exec(compile(program, "program.py", "exec"), space)
    space[entry]()
evaluate()
gc.collect()
gc.freeze()
for line in sys.stdin:
    for _ in range(int(line)):
        if sys.argv[3] == "inline":
            evaluate()
            continue
        pid = os.fork()
        if pid == 0:
            if sys.argv[3] == "floor":
                evaluate()
            os._exit(0)
        os.waitpid(pid, 0)
    print("done", flush=True)
`

// A method evaluates a program n times with so many at once.
type method struct {
	name   string
	places int
	run    func(n int) error
	best   float64 // evaluations per second
}

const (
	benchRounds = 15
	benchTime   = 100 * time.Millisecond // of one method in one round: many short ones find a quiet moment
)

// BenchmarkPool compares three ways to evaluate the initial programs of two problems, each at its best
// concurrency: a fresh interpreter for each evaluation, the pool in full containment, and the floor.
// What is reported are ratios, as all are measured in the same run, in turn.
//
//	go test ./eval/python -run '^$' -bench Pool -benchtime 1x
func BenchmarkPool(b *testing.B) {
	needPython(b)
	for _, problem := range []geometry.Problem{geometry.CirclePacking(), geometry.MinMaxDistance()} {
		b.Run(problem.Key, func(b *testing.B) { benchmark(b, problem.Initial["python"], problem.Entry) })
	}
}

func benchmark(b *testing.B, program, entry string) {
	path := filepath.Join(b.TempDir(), "program.py")
	if err := os.WriteFile(path, []byte(program), 0o644); err != nil {
		b.Fatal(err)
	}
	var methods []*method
	var memory int64
	report := ""
	n := runtime.GOMAXPROCS(0)
	for _, places := range []int{n, n + (n+1)/2} {
		r := newTestRunner(b, Config{Workers: places})
		bare := newTestRunner(b, Config{Workers: places, Isolation: isolation.None})
		methods = append(methods,
			fresh(path, entry, places), pooled("pool", r, program, entry, places),
			pooled("uncontained", bare, program, entry, places),
			floor(b, "floor", path, entry, places), floor(b, "fork", path, entry, places),
			floor(b, "inline", path, entry, places))
		if places == n {
			if err := pooled("", r, program, entry, places).run(4); err != nil {
				b.Fatal(err)
			}
			memory, report = resident(b, r), r.Isolation().String()
		}
	}
	b.ResetTimer()
	for range b.N {
		measure(b, methods)
	}
	rate := func(name string) float64 {
		best := 0.0
		for _, m := range methods {
			if m.name == name {
				best = max(best, m.best)
			}
		}
		return best
	}
	b.ReportMetric(rate("pool")/rate("fresh"), "×fresh")
	b.ReportMetric(rate("floor")/rate("pool"), "×floor-time")
	b.ReportMetric(1/rate("pool")/(1/rate("fork")+1/rate("inline")), "×sum-time")
	b.ReportMetric(1e3*(1/rate("pool")-1/rate("uncontained")), "containment-ms")
	b.ReportMetric(rate("pool"), "evals/s")
	b.ReportMetric(float64(memory)/(1<<20), "pool-MiB")
	b.ReportMetric(0, "ns/op")
	table := report
	for i, m := range methods[:len(methods)/2] { // a line for each, as a benchmark's log is cut after ten
		more := methods[len(methods)/2+i]
		table += fmt.Sprintf("\n%-12s %d at once: %6.0f/s, %.2f ms each; %d at once: %6.0f/s, %.2f ms each",
			m.name, m.places, m.best, 1e3/m.best, more.places, more.best, 1e3/more.best)
	}
	b.Log(table)
}

// measure has each method work in turn, several times, and keeps its best rate: what else the machine
// does only slows.
func measure(b *testing.B, methods []*method) {
	for range benchRounds {
		for _, m := range methods {
			n := 2 * m.places
			for {
				start := time.Now()
				if err := m.run(n); err != nil {
					b.Fatalf("%s: %v", m.name, err)
				}
				took := time.Since(start)
				if took >= benchTime/2 { // less says more of chance
					m.best = max(m.best, float64(n)/took.Seconds())
				}
				if took >= benchTime {
					break
				}
				n = max(n+1, int(1.2*float64(n)*benchTime.Seconds()/took.Seconds()))
			}
		}
	}
}

// spread runs f n times, with so many at once.
func spread(n, places int, f func() error) error {
	var group sync.WaitGroup
	errs := make([]error, places)
	for i := range places {
		group.Go(func() {
			for range n / places {
				if err := f(); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func fresh(path, entry string, places int) *method {
	return &method{name: "fresh", places: places, run: func(n int) error {
		return spread(n, places, func() error {
			cmd := exec.Command(interpreterPath, "-c", freshScript, path, entry)
			cmd.Env = environ(nil)
			out, err := cmd.Output()
			if err == nil && !json.Valid(out) {
				err = fmt.Errorf("printed %q", out)
			}
			return err
		})
	}}
}

func pooled(name string, r *Runner, program, entry string, places int) *method {
	return &method{name: name, places: places, run: func(n int) error {
		return spread(n, places, func() error {
			_, err := r.Run(context.Background(), program, entry)
			return err
		})
	}}
}

// floor starts so many of the interpreters that fork.
func floor(b *testing.B, name, path, entry string, places int) *method {
	var in []io.Writer
	var out []io.Reader
	for range places {
		cmd := exec.Command(interpreterPath, "-c", floorScript, path, entry, name)
		cmd.Env = environ(nil)
		w, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		r, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		in, out = append(in, w), append(out, r)
		b.Cleanup(func() {
			if err := w.Close(); err != nil {
				b.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				b.Error(err)
			}
		})
	}
	return &method{name: name, places: places, run: func(n int) error {
		for _, w := range in {
			if _, err := fmt.Fprintln(w, n/places); err != nil {
				return err
			}
		}
		for _, r := range out {
			var done string
			if _, err := fmt.Fscanln(r, &done); err != nil {
				return err
			}
		}
		return nil
	}}
}

// resident returns the memory of r's idle interpreters, what they share counted in parts.
func resident(b *testing.B, r *Runner) (bytes int64) {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	for _, z := range slices.Clone(r.pool.idle) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", z.cmd.Process.Pid))
		if err != nil {
			b.Fatal(err)
		}
		kib := regexp.MustCompile(`(?m)^Pss: +(\d+) kB`).FindSubmatch(text)
		n, err := strconv.ParseInt(string(kib[1]), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		bytes += n << 10
	}
	return bytes
}
