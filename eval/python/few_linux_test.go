package python

import (
	"testing"

	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// A candidate that may have one process has that one, for root and for others: its interpreter is not counted.
func TestOneProcess(t *testing.T) {
	needPython(t)
	if !sandboxtest.Inside(t) {
		sandboxtest.Rerun(t, sandboxtest.Self, nil, sandboxtest.Landlock)
		sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.Landlock)
		return
	}
	cfg := hostileConfig
	cfg.Processes = 1
	e := evaluatorWithout(t, folder(t, inProcess), cfg, nil)
	e.pool.kind.patience = 0 // which is for machines without room
	if out, err := e.run(t.Context(), "def run(): return 7"); err != nil || string(out) != "7" {
		t.Errorf("one process: %s, %v; %v", out, err, e.Isolation())
	}
	if out, err := e.run(t.Context(), "def run(): return os.fork()"); err == nil {
		t.Errorf("two processes: %s; %v", out, e.Isolation())
	}
}
