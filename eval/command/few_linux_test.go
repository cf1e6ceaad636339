package command

import (
	"testing"

	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// A command that may have one process has that one, for root, whom the kernel's count of a user's processes does not bind,
// and for others, whom it does: the shell that starts the command is not counted.
func TestOneProcess(t *testing.T) {
	if !sandboxtest.Inside(t) {
		sandboxtest.Rerun(t, sandboxtest.Self, nil, sandboxtest.Landlock)
		sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.Landlock)
		return
	}
	cfg := shell
	cfg.Processes = 1
	e := without(t, cfg, nil)
	if r, err := e.Evaluate(t.Context(), "echo 7"); err != nil || r.Score != 7 {
		t.Errorf("one process: %+v, %v; %v", r, err, e.Isolation())
	}
	if r, err := e.Evaluate(t.Context(), "/bin/true && echo 7"); err != nil || r.Valid {
		t.Errorf("two processes: %+v, %v; %v", r, err, e.Isolation())
	}
}
