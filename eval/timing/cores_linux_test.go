package timing

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval"
)

// threads computes what blocks does, in two threads.
var threads = strings.Replace(blocks, "def f", "def part", 1) + halves

// halves gives each of two threads half of the work.
const halves = `
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
def f(x, out):
    n = len(x) // 2
    first = pool.submit(part, x[:n], out[:n])
    part(x[n:], out[n:])
    first.result()
`

// waits is work that takes a time by the length of its input, and needs no processor.
const waits = `import time
def part(x, out):
    time.sleep(len(x) / 1e5)
    out[:] = x
`

// Work in two threads gains by the time that passed, and by no other clock. Threads that wait do so at the same time on a
// busy machine too, where threads that compute may not.
func TestCores(t *testing.T) {
	m := machine(t)
	if len(m.cpus) < 2 {
		t.Skip("this machine has one processor")
	}
	const alone = "f = part\n"
	for _, tt := range []struct {
		clock              Clock
		cores, numbers     int
		baseline, threaded string
		gains              bool
	}{
		{Elapsed, 2, 20_000, waits + alone, waits + halves, true},
		{Elapsed, 1, 4 * size, blocks, threads, false},
		{CPU, 2, 4 * size, blocks, threads, false},
	} {
		cfg := config()
		cfg.Baseline, cfg.Input, cfg.Pairs, cfg.Clock, cfg.Cores, cfg.Others = tt.baseline, draw(tt.numbers), 5, tt.clock,
			tt.cores, nil
		e, err := m.Evaluator(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		// Other processes may hold one of the sides up during one evaluation, and hardly during ten.
		var r eval.Result
		for range 10 {
			if r, err = e.Evaluate(t.Context(), tt.threaded); err != nil || !r.Valid {
				t.Fatalf("%+v, %v", r, err)
			}
			if r.Score >= gain == tt.gains {
				break
			}
		}
		if r.Score >= gain != tt.gains {
			t.Errorf("by clock %d on %d processors two threads score %.2f: %v", tt.clock, tt.cores, r.Score, r.Metrics)
		}
	}
}

// A program may use as many processors as Config.Cores, and no others.
func TestAffinity(t *testing.T) {
	m := machine(t)
	for cores := 1; cores <= min(2, len(m.cpus)); cores++ {
		cfg := config()
		cfg.Input, cfg.Others, cfg.Pairs, cfg.Clock, cfg.Cores, cfg.Check = draw(1), nil, 1, Elapsed, cores, Close(0, 0)
		cfg.Baseline = fmt.Sprintf("def f(x, out): out[:] = %d", cores)
		e, err := m.Evaluator(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Evaluate(t.Context(), "import os\ndef f(x, out): out[:] = len(os.sched_getaffinity(0))")
		if err != nil || !r.Valid {
			t.Errorf("with %d processors: %+v, %v", cores, r, err)
		}
	}
}

// Another process on the processor of a timing is seen.
func TestStrangers(t *testing.T) {
	m := machine(t)
	stranger := exec.Command("/bin/sh", "-c", "while :; do :; done")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer stranger.Wait()
	defer stranger.Process.Kill()
	var set unix.CPUSet
	set.Set(m.cpus[0])
	if err := unix.SchedSetaffinity(stranger.Process.Pid, &set); err != nil {
		t.Fatal(err)
	}
	cfg := config()
	cfg.Input, cfg.Pairs, cfg.Clock = draw(30*size), 5, Elapsed
	e, err := m.Evaluator(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var r eval.Result
	for range 10 { // in one evaluation the stranger may itself wait for others, and hardly in ten
		if r, err = e.Evaluate(t.Context(), seed); err != nil || !r.Valid || r.Metrics["strangers"] >= 0.1 {
			break
		}
	}
	if s := r.Metrics["strangers"]; err != nil || !r.Valid || s < 0.1 || s > 1 { // the least disturbed pairs count
		t.Errorf("beside a process that computes all the time: %+v, %v", r, err)
	}
	if r.Metrics["pairs"] != 5 {
		t.Errorf("%v pairs, want 5", r.Metrics["pairs"])
	}
}

// Processors that a process may not use cannot be asked for.
func TestNoSuchCores(t *testing.T) {
	m := &Machine{cpus: []int{1, 0}}
	for want, cfg := range map[string]Config{
		"": {Cores: 2},
		"Config.Cores is 3: this process may use 2 processors": {Cores: 3},
	} {
		if err := m.room(cfg); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
	nowhere := &Machine{}
	if err := nowhere.room(Config{Cores: 1}); err != nil {
		t.Error(err)
	}
	if err := nowhere.room(Config{Cores: 1, Clock: Elapsed}); err == nil || !strings.Contains(err.Error(), "use CPU") {
		t.Errorf("without known processors: %v", err)
	}
}
