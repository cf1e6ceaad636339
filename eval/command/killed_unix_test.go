//go:build unix && !solaris && !aix

package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/patch"
)

// These are set where this test binary is started to be killed while it evaluates: where its temporary folders go, and the base.
const (
	killedTmpEnv  = "EVOALLOC_TEST_KILLED_TMP"
	killedBaseEnv = "EVOALLOC_TEST_KILLED_BASE"
)

// killable returns what evaluates programs of a base in three steps.
func killable(t *testing.T, base string) *Evaluator {
	t.Helper()
	cfg := shell
	cfg.Logger = quiet
	cfg.Args, cfg.Base, cfg.Build, cfg.Run, cfg.Score = nil, base, []string{"sh", "-c", "echo > made"},
		[]string{"sh", "-c", "echo ran > out"}, []string{"sh", "-c", "sleep 0.01; echo 3"}
	e, err := NewEvaluator(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var killedProgram = patch.Patch{Base: "test", Files: map[string]string{"new/a": "x\n"}}.String()

// TestEvaluatesUntilKilled is not a test but the process that [TestNothingIsLeftOfKilled] kills.
func TestEvaluatesUntilKilled(t *testing.T) {
	tmp := os.Getenv(killedTmpEnv)
	if tmp == "" {
		return
	}
	t.Setenv("TMPDIR", tmp)
	e := killable(t, os.Getenv(killedBaseEnv))
	for {
		if r, err := e.Evaluate(t.Context(), killedProgram); err != nil || r.Score != 3 {
			fmt.Printf("got %+v, %v\n", r, err)
			os.Exit(1)
		}
	}
}

// Of processes that were killed while they evaluated, in whatever step, the next one removes what they left, and the base
// is as it was. It leaves alone what others use meanwhile.
func TestNothingIsLeftOfKilled(t *testing.T) {
	base, tmp := t.TempDir(), t.TempDir()
	writeBase(t, filepath.Join(base, "kept"), "k\n")
	before := digestOf(t, base)
	start := func() (kill func()) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^TestEvaluatesUntilKilled$")
		cmd.Env = append(os.Environ(), killedTmpEnv+"="+tmp, killedBaseEnv+"="+base)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has children of its own
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			cmd.Wait()
		}
	}
	// What is there are folders and processes.
	folders := func() []string { return leftovers(tmp) }
	other := start()
	defer other()
	left := 0
	for i := range notrun.Length(3, 50) {
		kill := start()
		seen := map[string]bool{}
		for len(seen) < 4+i%7 { // so that kills fall into different steps
			for _, name := range folders() {
				seen[name] = true
			}
			time.Sleep(time.Millisecond)
		}
		kill()
		left += len(folders())
	}
	if left == 0 {
		t.Error("nothing was there when processes were killed: the test shows nothing")
	}
	t.Setenv("TMPDIR", tmp)
	for range 3 { // while another process evaluates beside it
		if r, err := killable(t, base).Evaluate(t.Context(), killedProgram); err != nil || r.Score != 3 {
			t.Errorf("beside another process: got %+v, %v", r, err)
		}
	}
	other()
	for range 1000 { // processes end a little after the one that started them
		killable(t, base)
		if len(folders()) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if all := folders(); len(all) > 0 {
		t.Errorf("left behind: %s", strings.Join(all, "\n"))
	}
	if digestOf(t, base) != before {
		t.Error("the base was changed")
	}
}
