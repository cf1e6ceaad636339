package timing

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// Where neither namespaces nor Landlock keep candidates apart, the baseline's memory is out of reach all the same.
func TestBaselineIsClosed(t *testing.T) {
	m := machine(t)
	left := slices.DeleteFunc(sandbox.Mechanisms(), func(m isolation.Mechanism) bool { return m != sandbox.Seccomp })
	plan, err := sandbox.NewCommandPlan(isolation.BestEffort, left)
	// The plan closed this process, and the next one needs it open.
	if err == nil {
		err = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.plan = plan
	cfg := config()
	cfg.Pairs, cfg.Input, cfg.Others = 1, draw(1000), nil
	e, err := m.Evaluator(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Evaluate(t.Context(), honestly+`
others = 0
def f(x, out):
    global others
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or int(pid) == os.getpid(): continue
        try: # others of this test alone: those of another may still be starting
            with open(f"/proc/{pid}/stat") as stat:
                if int(stat.read().rpartition(")")[2].split()[1]) != os.getppid(): continue
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if b"harness.py" not in line.read(): continue
        except OSError: continue
        others += 1
        for name in ("fd/4", "mem"):
            try: open(f"/proc/{pid}/{name}", "rb").close()
            except OSError: continue
            raise RuntimeError("reached " + name)
    if others == 0: raise RuntimeError("saw nobody")
    work(x, out)
`)
	if err != nil || !r.Valid {
		t.Errorf("%+v, %v", r, err)
	}
}
