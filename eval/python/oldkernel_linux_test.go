package python

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// ourKey is in the environment of this process from its start, where the model's key is.
const ourKey = "EVOALLOC_TEST_KEY=sk-of-the-model"

// reaching is a program that looks for the key in the environment of the Go process, and writes into its
// memory. It returns what it found and could do.
const reaching = `
def run():
    done = []
    try:
        with open("/proc/PID/environ", "rb") as f:
            done += [v.decode() for v in f.read().split(b"\0") if v.startswith(b"EVOALLOC_TEST_KEY=")]
    except OSError:
        pass
    try:
        with open("/proc/PID/mem", "r+b", 0) as f:
            f.seek(ADDRESS)
            f.write(b"spoiled")
            done.append("wrote into its memory")
    except OSError:
        pass
    return done
`

// Without Landlock and user namespaces a candidate runs as the user that the Go process runs as, and must
// not come to that process's key and memory all the same.
func TestOldKernel(t *testing.T) {
	needPython(t)
	if !sandboxtest.Inside(t) {
		for _, as := range []sandboxtest.Caller{sandboxtest.Self, sandboxtest.Ordinary} {
			sandboxtest.Rerun(t, as, []string{ourKey}, sandboxtest.Landlock, sandboxtest.UserNS)
		}
		return
	}
	victim := []byte("as ever")
	attack := strings.NewReplacer("PID", fmt.Sprint(os.Getpid()), "ADDRESS",
		fmt.Sprint(uintptr(unsafe.Pointer(&victim[0])))).Replace(reaching)
	r := newTestRunner(t, Config{Workers: 1, Imports: []string{}})
	for range 3 {
		out, err := r.Run(t.Context(), attack, "run")
		var done []string
		if err == nil {
			err = json.Unmarshal(out, &done)
		}
		if err != nil || len(done) > 0 || string(victim) != "as ever" {
			t.Errorf("the attack got %q, %v, and left %q", done, err, victim)
		}
		if out, err := r.Run(t.Context(), "def run(): return [1.5]", "run"); err != nil || string(out) != "[1.5]" {
			t.Errorf("after it an honest candidate got %s, %v", out, err)
		}
	}
	runtime.KeepAlive(victim)
}
