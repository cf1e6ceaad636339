//go:build unix && !solaris && !aix

package claim_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/claim"
)

// holdEnv is the path that a process started by a test is to claim, and hold until it is killed.
const holdEnv = "EVOALLOC_TEST_CLAIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		release, err := claim.Take(path)
		fmt.Println(err)
		time.Sleep(time.Hour) // a select without cases is a deadlock, which ends the process
		release()
	}
	os.Exit(m.Run())
}

// hold starts a process that claims path until it is killed.
func hold(t *testing.T, path string) (kill func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return kill
}

// swept returns the names of what Sweep would remove from dir.
func swept(dir string) (names []string) {
	claim.Sweep(dir, "x-", func(path string) error {
		names = append(names, filepath.Base(path))
		return nil
	})
	return names
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What a process holds is left alone until it is killed or lets go.
func TestSweepLeavesWhatIsInUse(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(in("x-1"), nil, 0o600))
	must(t, os.Mkdir(in("x-2"), 0o700))
	kill := hold(t, in("x-1"))
	release, err := claim.Take(in("x-2"))
	must(t, err)
	if got := swept(dir); len(got) != 0 {
		t.Errorf("both are held: swept %v", got)
	}
	kill()
	if got := swept(dir); !slices.Equal(got, []string{"x-1"}) {
		t.Errorf("one holder was killed: swept %v, want x-1", got)
	}
	release()
	if got := swept(dir); !slices.Equal(got, []string{"x-1", "x-2"}) {
		t.Errorf("none is held: swept %v, want x-1 and x-2", got)
	}
}

func TestSweepLeavesWhatHasAnotherName(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"x-", "x-1a", "x--1", "x-1.5", "y-1", "ax-1", "x-99999999999999999999999"} {
		must(t, os.WriteFile(in(name), nil, 0o600))
	}
	must(t, os.WriteFile(in("target"), nil, 0o600))
	must(t, os.Symlink(in("target"), in("x-3")))
	must(t, syscall.Mkfifo(in("x-4"), 0o600))
	if got := swept(dir); len(got) != 0 {
		t.Errorf("swept %v", got)
	}
	if got := swept(filepath.Join(dir, "none")); len(got) != 0 {
		t.Errorf("swept %v of no folder", got)
	}
}

func TestSweepLeavesWhatOthersOwn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x-1")
	must(t, os.WriteFile(path, nil, 0o666))
	must(t, os.Chown(path, 65534, 65534))
	if got := swept(dir); len(got) != 0 {
		t.Errorf("swept %v of another user", got)
	}
}

// What is swept between its making and its claim is known to be gone.
func TestTakeWhatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-1")
	if _, err := claim.Take(path); !errors.Is(err, claim.ErrGone) {
		t.Errorf("gone before it is claimed: error %v", err)
	}
	must(t, os.WriteFile(path, nil, 0o600))
	taken := make(chan error)
	claim.Sweep(filepath.Dir(path), "x-", func(path string) error {
		go func() {
			_, err := claim.Take(path)
			taken <- err
		}()
		time.Sleep(10 * time.Millisecond) // most likely it has tried by now; if not, the first case was tried again
		return os.Remove(path)
	})
	if err := <-taken; !errors.Is(err, claim.ErrGone) {
		t.Errorf("swept while it is claimed: error %v", err)
	}
}

// What another process has locked before it is claimed is given up at once: it may be a candidate, which keeps it as long
// as it runs.
func TestTakeWhatIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-1")
	must(t, os.Mkdir(path, 0o700))
	kill := hold(t, path)
	if _, err := claim.Take(path); !errors.Is(err, claim.ErrGone) {
		t.Errorf("while another process has it: error %v", err)
	}
	kill()
	release, err := claim.Take(path)
	must(t, err)
	release()
}

// What was claimed stays, however the claim falls together with a sweep.
func TestTakeAgainstSweep(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				claim.Sweep(dir, "x-", os.Remove)
			}
		}
	})
	for i := range 500 {
		path := filepath.Join(dir, "x-"+strconv.Itoa(i))
		must(t, os.WriteFile(path, nil, 0o600))
		release, err := claim.Take(path)
		if errors.Is(err, claim.ErrGone) {
			continue
		}
		must(t, err)
		if err := os.Remove(path); err != nil {
			t.Errorf("claimed, and then: %v", err)
		}
		release()
	}
	close(stop)
	sweeper.Wait()
}
