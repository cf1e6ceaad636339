package timing

import (
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval"
)

// threads computes what blocks does, in two threads.
var threads = strings.Replace(blocks, "def f", "def part", 1) + `
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
def f(x, out):
    n = len(x) // 2
    first = pool.submit(part, x[:n], out[:n])
    part(x[n:], out[n:])
    first.result()
`

// Work in two threads gains by the time that passed on two processors, and by no other clock or number of processors.
func TestCores(t *testing.T) {
	m := machine(t)
	if len(m.cpus) < 2 {
		t.Skip("this machine has one processor")
	}
	score := func(clock Clock, cores int) eval.Result {
		cfg := config()
		cfg.Baseline, cfg.Input, cfg.Pairs, cfg.Clock, cfg.Cores = blocks, draw(4*size), 7, clock, cores
		e, err := m.Evaluator(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Evaluate(t.Context(), threads)
		if err != nil || !r.Valid {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	for _, tt := range []struct {
		clock Clock
		cores int
		gains bool
	}{
		{Elapsed, 2, true},
		{Elapsed, 1, false},
		{CPU, 2, false},
	} {
		// Other processes may be on one of the processors during one evaluation, and hardly during ten.
		var r eval.Result
		for range 10 {
			if r = score(tt.clock, tt.cores); r.Score >= gain == tt.gains {
				break
			}
		}
		if r.Score >= gain != tt.gains {
			t.Errorf("by clock %d on %d processors two threads score %.2f: %v", tt.clock, tt.cores, r.Score, r.Metrics)
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
	cfg.Input, cfg.Pairs, cfg.Clock = draw(10*size), 5, Elapsed
	e, err := m.Evaluator(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Evaluate(t.Context(), seed)
	if s := r.Metrics["strangers"]; err != nil || !r.Valid || s < 0.2 || s > 1 {
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
