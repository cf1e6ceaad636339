package python

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// interpreterPath is the interpreter that tests run candidates with, unless they look for one; if there
// is none, interpreterErr is why.
var (
	interpreterPath string
	interpreterErr  error
)

// TestMain counts processes, files and mounts before and after all tests. On a machine without a
// Python that has numpy, what needs one is not run, and said not to be.
func TestMain(m *testing.M) {
	interpreterPath, interpreterErr = Find(context.Background(), "numpy")
	if interpreterErr != nil {
		notrun.Say("eval/python", "all that runs a candidate", interpreterErr, "install python3 and python3-numpy")
		if err := flag.Set("test.skip", "^Example"); err != nil {
			panic(err)
		}
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	tmp, err := os.MkdirTemp("", "test-python-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(tmp)
	os.Setenv("TMPDIR", tmp)
	os.Setenv("PYTHONUSERBASE", tmp) // which is passed on
	os.Setenv("EVOALLOC_SECRET", secret)
	// Somebody of the same user who knows the secret from the start, as this process does not.
	holder := exec.Command("sleep", "1000")
	holder.Env = []string{"EVOALLOC_SECRET=" + secret}
	if err := holder.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	}()
	before := leftovers(tmp)
	code := m.Run()
	if after := leftovers(tmp); len(after) > len(before) {
		fmt.Printf("left behind: %q, and before there was %q\n", after, before)
		return 1
	}
	return code
}

// leftovers returns what a run can leave behind: processes, files, mounts, shared memory. The
// interpreters of this process and all that they fork have its temporary folder in their environment.
func leftovers(tmp string) []string {
	var found []string
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, state, _ := strings.Cut(string(stat), ") ")
		environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if !strings.HasPrefix(state, "Z") && strings.Contains(string(environ), "PYTHONUSERBASE="+tmp) {
			found = append(found, fmt.Sprintf("process %s %.60q", e.Name(), stat))
		}
	}
	for _, pattern := range []string{tmp + "/evoalloc-*", "/dev/shm/evoalloc*"} {
		files, _ := filepath.Glob(pattern)
		found = append(found, files...)
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, tmp) {
			found = append(found, line)
		}
	}
	return found
}

func childrenOf(parent int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// quiet is for runners that are started many times.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// newTestRunner returns a Runner that is closed with the test.
func newTestRunner(t testing.TB, cfg Config) *Runner {
	t.Helper()
	needPython(t)
	cfg.Logger, cfg.Interpreter = quiet, interpreterPath
	r, err := NewRunner(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// needPython ends a test that needs an interpreter where there is none; TestMain has said so.
func needPython(t testing.TB) {
	if interpreterErr != nil {
		notrun.Skip(t)
	}
}
