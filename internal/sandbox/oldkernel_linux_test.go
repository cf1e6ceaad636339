package sandbox

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// Without Landlock and user namespaces this process is made not dumpable, for an ordinary user; for root,
// from whom candidates differ by their capabilities, it need not be.
func TestClose(t *testing.T) {
	if !sandboxtest.Inside(t) {
		sandboxtest.Rerun(t, sandboxtest.Self, nil, sandboxtest.Landlock, sandboxtest.UserNS)
		sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.Landlock, sandboxtest.UserNS)
		return
	}
	p := planWith(t, isolation.BestEffort, Mechanisms())
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if root := unix.Geteuid() == 0; (dumpable != 0) != root || strings.HasSuffix(p.missing[Landlock], exposed) == root {
		t.Errorf("root %v, dumpable %d, Landlock is missing: %s", root, dumpable, p.missing[Landlock])
	}
	if open, err := p.reach(false); err != nil || open != "" {
		t.Errorf("a contained process can open %s, %v", open, err)
	}
}

// Where this process cannot be closed, a plan is an error that says what to do; no containment can still
// be chosen.
func TestCannotClose(t *testing.T) {
	if !sandboxtest.Inside(t) {
		sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.Landlock, sandboxtest.UserNS, sandboxtest.Dumpable)
		return
	}
	for _, level := range []isolation.Level{isolation.BestEffort, isolation.Strict} {
		_, err := NewPlan(level, Mechanisms())
		if err == nil {
			t.Errorf("%v: no error", level)
			continue
		}
		for _, want := range []string{"sandbox: a candidate could open /proc/", "/environ", "/mem",
			"user namespaces are missing (", "operation not permitted", "isolation none"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %q lacks %q", level, err, want)
			}
		}
	}
	planWith(t, isolation.None, Mechanisms())
}

// Where something else closes this process, it stays as it was: a debugger can look at it, and others
// can still be started in user namespaces.
func TestStaysDumpable(t *testing.T) {
	root := unix.Geteuid() == 0
	for _, c := range []struct {
		why     string
		plan    func(isolation.Level, []isolation.Mechanism) (*Plan, error)
		without []isolation.Mechanism
		stays   bool
	}{
		{"a user namespace closes it", NewCommandPlan, families["landlock"], true},
		{"Landlock closes it to what confines itself", NewPlan, families["namespaces"], true},
		{"commands have their thread's domain, and for root fewer capabilities", NewCommandPlan, families["namespaces"],
			root},
	} {
		planWithout(t, nil) // which has it be dumpable
		_, err := c.plan(isolation.BestEffort, slices.DeleteFunc(Mechanisms(),
			func(m isolation.Mechanism) bool { return slices.Contains(c.without, m) }))
		dumpable, get := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err := errors.Join(err, get); err != nil || (dumpable == 1) != c.stays {
			t.Errorf("%s: dumpable %d, %v", c.why, dumpable, err)
		}
	}
}
