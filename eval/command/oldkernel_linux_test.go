package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// ourKey is in the environment of this process from its start, where the model's key is.
const ourKey = "EVOALLOC_TEST_KEY=sk-of-the-model"

// Without user namespaces a candidate runs as the user that the Go process runs as, and must not come to
// that process's key and memory all the same: neither where Landlock is missing as well, nor through the
// thread of the Go process that started it, which is in the same Landlock domain.
func TestOldKernel(t *testing.T) {
	if !sandboxtest.Inside(t) {
		for _, as := range []sandboxtest.Caller{sandboxtest.Self, sandboxtest.Ordinary} {
			sandboxtest.Rerun(t, as, []string{ourKey}, sandboxtest.Landlock, sandboxtest.UserNS)
			sandboxtest.Rerun(t, as, []string{ourKey}, sandboxtest.UserNS)
		}
		return
	}
	attack := strings.ReplaceAll(`
for p in /proc/PID /proc/PID/task/*; do
	grep -q EVOALLOC_TEST_KEY=sk-of < $p/environ && echo found the key >&2
	true < $p/mem && echo opened its memory >&2
	true <> $p/mem && echo opened its memory to write >&2
	true < $p/fd/0 && echo opened its input >&2
done
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
