//go:build unix && !solaris && !aix

package python

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killedEnv is set where this test binary is started to be killed with an interpreter at work.
const killedEnv = "EVOALLOC_TEST_KILLED"

// TestToBeKilled is not a test but the process that [TestScratchOfTheKilled] kills.
func TestToBeKilled(t *testing.T) {
	if os.Getenv(killedEnv) == "" {
		return
	}
	r := newTestRunner(t, Config{Workers: 1})
	if out, err := r.Run(t.Context(), "def run(): return 1", "run"); err != nil || string(out) != "1" {
		t.Fatalf("got %s, %v", out, err)
	}
	fmt.Println("folder of", os.TempDir())
	time.Sleep(10 * time.Minute)
}

// toBeKilled starts a process with an interpreter, and returns the folder that its scratch folder is in.
func toBeKilled(t *testing.T) (dir string, kill func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestToBeKilled$")
	cmd.Env = append(os.Environ(), killedEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has children of its own
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	}
	t.Cleanup(kill)
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if dir, found := strings.CutPrefix(lines.Text(), "folder of "); found {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir, kill
		}
		said = append(said, lines.Text())
	}
	t.Fatalf("the other process ended, and said %q", said)
	return "", nil
}

// The scratch folders of a process that was killed are removed when the next interpreter starts, and those of one
// that runs are not.
func TestScratchOfTheKilled(t *testing.T) {
	needPython(t)
	dir, kill := toBeKilled(t)
	t.Setenv("TMPDIR", dir)
	in := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, scratchName+"*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	another := func() (dir string, remove func()) {
		dir, release, err := newScratch()
		if err != nil {
			t.Fatal(err)
		}
		return dir, func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
			release()
		}
	}
	theirs := in()
	if len(theirs) != 1 {
		t.Fatalf("a process with one interpreter has the folders %q", theirs)
	}
	if err := os.WriteFile(filepath.Join(theirs[0], "left"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, remove := another()
	if now := in(); !slices.Contains(now, theirs[0]) || len(now) != 2 {
		t.Errorf("of %q and one more, %q are left while the process runs", theirs, now)
	}
	remove()
	kill()
	ours, remove := another()
	if now := in(); len(now) != 1 || filepath.Base(now[0]) != filepath.Base(ours) {
		t.Errorf("%q are left after the process was killed, want %q", now, ours)
	}
	remove()
}
