package python

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// TestPrograms has an evaluator run programs by sys.executable: what comes of them must be what comes of them in an
// interpreter of their own.
func TestPrograms(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "programs.py"))
	if err != nil {
		t.Fatal(err)
	}
	e := evaluatorWithout(t, folder(t, string(text)), Config{Workers: 1}, nil)
	got, err := e.Evaluate(t.Context(), "")
	if err != nil || got.Metrics["warm"] != 1 || got.Metrics["drawn"] != 3 || got.Score < 50 {
		t.Errorf("%v, %s, %v", got.Metrics, got.Reason, err)
	}
	for name, text := range got.Artifacts {
		t.Errorf("%s: %s", name, text)
	}
}

// secretive is an evaluator with secrets of its own, some of which another of its programs is told. It believes
// what its last program, which is honest, says.
const secretive = `
import os, subprocess, sys
import numpy
def evaluate(path):
    secret = "MARKED" + os.urandom(16).hex()
    os.environ["TOLD"] = secret
    run = lambda *args, **kw: subprocess.run([sys.executable, *args], stdout=subprocess.PIPE, text=True, **kw).stdout
    warm = run("-c", "import sys; print(len(sys.argv), 'numpy' in sys.modules)", "MARKED" + os.urandom(16).hex())
    del os.environ["TOLD"]
    through = run(path, input="")
    said = run("-c", "print(6 * 7)")
    return {"combined_score": float(said), "warm": int(warm == "2 True\n"), "through": through}
`

// TestHostilePrograms has a candidate that an evaluator runs by sys.executable reach for the server that forked it,
// the evaluator and its other programs.
func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "hostile", "server.py"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := hostileConfig
	cfg.Workers, cfg.Timeout = 1, 20*time.Second
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		e := evaluatorWithout(t, folder(t, secretive), cfg, ms)
		for _, program := range []string{string(text), "print('', end='')"} {
			got, err := e.Evaluate(t.Context(), program)
			said := got.Artifacts["through"] + got.Artifacts["stderr"]
			if err != nil || got.Score != 42 || got.Metrics["warm"] != 1 || said != "" {
				t.Errorf("without %s: %+v, %v", family, got, err)
			}
		}
	}
}

// BenchmarkPrograms evaluates a program that imports NumPy in a process of its own, of an evaluator whose programs are
// forked, and of one whose programs are interpreters of their own. What is reported is processor time of all processes.
//
//	go test ./eval/python -run '^$' -bench Programs -benchtime 50x
func BenchmarkPrograms(b *testing.B) {
	needPython(b)
	for name, text := range map[string]string{"forked": executing, "fresh": executing + "# fork\n"} {
		b.Run(name, func(b *testing.B) {
			cfg := Config{Workers: 1, Logger: quiet, Interpreter: interpreterPath, Imports: []string{"numpy"}}
			e, err := NewEvaluator(b.Context(), folder(b, text), EvaluatorConfig{Config: cfg})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			pid := e.pool.idle[0].cmd.Process.Pid
			before := ticks(b, pid)
			for b.Loop() {
				got, err := e.Evaluate(b.Context(), "import numpy; print(numpy.arange(3).sum())")
				if err != nil || !got.Valid {
					b.Fatal(got, err)
				}
			}
			b.ReportMetric((ticks(b, pid)-before)*10/float64(b.N), "cpu-ms/op")
		})
	}
}

// ticks returns the processor time of a process and its descendants that have ended, in hundredths of a second.
func ticks(b *testing.B, pid int) (sum float64) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	for _, f := range strings.Fields(rest)[11:15] {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += n
	}
	return sum
}
