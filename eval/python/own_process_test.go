package python

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// executing is an evaluator that runs the candidate in a process of its own, by executing an interpreter,
// and believes only the number that comes through a file that is the candidate's to write to.
const executing = `
import os, subprocess, sys
def evaluate(path):
    out = subprocess.run([sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=15).stdout
    return {"combined_score": 0.25, "printed": len(out)}
`

// TestOwnProcess has a candidate in a process of its own reach for the evaluator, for the interpreter and
// for the candidates after it: through /proc, and by a process that goes on when it has ended.
func TestOwnProcess(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "hostile", "reach.py"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := hostileConfig
	cfg.Workers, cfg.Timeout = 1, 20*time.Second
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		e := evaluatorWithout(t, folder(t, executing), cfg, ms)
		got, err := e.Evaluate(t.Context(), string(text))
		if err != nil || got.Score != 0.25 || got.Metrics["printed"] != 0 {
			t.Errorf("without %s: the attack got %+v, %v; it prints what it reached", family, got, err)
		}
		for i := range 5 {
			got, err := e.Evaluate(t.Context(), fmt.Sprintf("print('x' * %d, end='')", i))
			if err != nil || got.Score != 0.25 || got.Metrics["printed"] != float64(i) {
				t.Errorf("without %s: the honest candidate got %+v, %v, want the evaluator's own score", family, got, err)
			}
		}
		if e.Isolation().Has(sandbox.PIDNS) != (family != "namespaces") {
			t.Errorf("without %s: %v", family, e.Isolation())
		}
		for _, z := range e.pool.idle {
			if pids := childrenOf(z.cmd.Process.Pid); len(pids) > 0 {
				t.Errorf("without %s: processes %v are left", family, pids)
			}
		}
	}
}
