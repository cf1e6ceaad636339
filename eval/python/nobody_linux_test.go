package python

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// asNobody are the tests that are run as an ordinary user as well where the tests run as root: what is
// stopped for one need not be for the other. The normal run takes those that attack something of ours.
var asNobody = []string{"TestHostile", "TestHostileInEvaluator", "TestRunnerProcesses", "TestAttacks", "TestSiblings",
	"TestOwnProcess",
	"TestForgery", "TestWritable", "TestUnclean", "TestCancel", "TestHonestNeeds", "TestHide"}

// TestAsNobody runs this test's own program as the user nobody.
func TestAsNobody(t *testing.T) {
	needPython(t)
	if os.Geteuid() != 0 {
		t.Log("an ordinary user runs all tests already")
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("/tmp", "nb") // short, as sockets are made in there
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program, tmp := filepath.Join(dir, "test"), filepath.Join(dir, "t")
	if err := copyProgram(program); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Chmod(dir, 0o755), os.Mkdir(tmp, 0o700), os.Chown(tmp, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-test.count=1", "-test.run=^("+
		strings.Join(notrun.Few(asNobody, 3, 4, 5, 6, 7, 9, 11), "|")+")$")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
		Pdeathsig: syscall.SIGKILL}
	// It is killed with the thread that started it. The sandbox discards threads that it has used, so this one is kept.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "PASS") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// copyProgram copies the running program to where everybody can execute it.
func copyProgram(path string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err = io.Copy(to, from); err != nil {
		_ = to.Close()
		return err
	}
	return to.Close()
}
