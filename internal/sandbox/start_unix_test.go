//go:build unix

package sandbox

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shell returns a command that runs a script in a session of its own, and what it prints.
func shell(t *testing.T, script string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Stdout, cmd.WaitDelay = &out, time.Minute
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, &out
}

// gone waits until the process is: it was killed, and its parent, which may be somebody else, has yet
// to see it.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if errors.Is(unix.Kill(n, 0), unix.ESRCH) {
			return
		}
		if stat, _ := os.ReadFile("/proc/" + strconv.Itoa(n) + "/stat"); bytes.Contains(stat, []byte(") Z ")) {
			return
		}
	}
	t.Errorf("process %d is still there", n)
	_ = unix.Kill(n, unix.SIGKILL)
}

// What a command leaves in its group is killed when the command ends, by whichever way its end is
// found out.
func TestFollow(t *testing.T) {
	const leaving = "sleep 1000 >/dev/null & echo $!; exit 7"
	for name, follow := range map[string]func(*exec.Cmd) error{
		"as here": func(cmd *exec.Cmd) error {
			p, err := Start(cmd)
			if err != nil {
				return err
			}
			return p.Wait()
		},
		"where a process cannot be waited for without being reaped": func(cmd *exec.Cmd) error {
			if err := cmd.Start(); err != nil {
				return err
			}
			p := &Process{pid: cmd.Process.Pid, group: cmd.Process.Pid}
			p.follow(cmd, false)
			return p.err
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, out := shell(t, leaving)
			var exit *exec.ExitError
			if err := follow(cmd); !errors.As(err, &exit) || exit.ExitCode() != 7 {
				t.Errorf("got %v, want exit status 7", err)
			}
			gone(t, out.String())
		})
	}
}

func TestKill(t *testing.T) {
	cmd, _ := shell(t, "sleep 1000 & wait")
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if p.Ended() {
		t.Error("it ended before it was killed")
	}
	p.Kill()
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.Success() || !p.Ended() {
		t.Errorf("got %v, ended %v", err, p.Ended())
	}
	p.Kill() // which must not reach whoever has the id now
	if _, err := Start(exec.Command("/nonexistent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A descriptor that this process was started with does not reach what it starts.
func TestCloseInherited(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inherited, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, 40) // as if it had been there from the start
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	path := "/dev/fd/" + strconv.Itoa(inherited)
	for _, close := range []bool{false, true} {
		cmd := exec.Command("/bin/sh", "-c", "if test -e "+path+"; then echo open; else echo closed; fi")
		if close {
			if err := CloseInherited(cmd); err != nil {
				t.Fatal(err)
			}
		}
		out, err := cmd.Output()
		if want := map[bool]string{false: "open\n", true: "closed\n"}[close]; err != nil || string(out) != want {
			t.Errorf("closed %v: %q, %v, want %q", close, out, err, want)
		}
	}
}
