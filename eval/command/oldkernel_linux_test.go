package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/oldkernel"
)

// ourKey is in the environment of this process from its start, where the model's key is.
const ourKey = "EVOALLOC_TEST_KEY=sk-of-the-model"

// Without Landlock and user namespaces a candidate runs as the user that the Go process runs as, and must
// not come to that process's key and memory all the same.
func TestOldKernel(t *testing.T) {
	if !oldkernel.Inside(t) {
		for _, as := range []oldkernel.Caller{oldkernel.Self, oldkernel.Ordinary} {
			oldkernel.Rerun(t, as, []string{ourKey}, oldkernel.Landlock, oldkernel.UserNS)
		}
		return
	}
	attack := strings.ReplaceAll(`
tr '\0' '\n' < /proc/PID/environ | sed -n 's/^EVOALLOC_TEST_KEY=/found /p' >&2
true < /proc/PID/mem && echo opened its memory >&2
true <> /proc/PID/mem && echo opened its memory to write >&2
true < /proc/PID/fd/0 && echo opened its input >&2
echo 1`, "PID", fmt.Sprint(os.Getpid()))
	e := without(t, shell, nil)
	for range 3 {
		r, err := e.Evaluate(t.Context(), attack)
		said := r.Artifacts["stderr"]
		if err != nil || r.Score != 1 || strings.Contains(said, "found ") || strings.Contains(said, "opened ") {
			t.Errorf("the attack got %+v, %v", r, err)
		}
		if r, err := e.Evaluate(t.Context(), "echo 1.5"); err != nil || r.Score != 1.5 {
			t.Errorf("after it an honest candidate got %+v, %v", r, err)
		}
	}
}
