package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Another user of the machine does not come to what candidates and scorers read and write, even where a candidate opens
// its files for everybody, and cannot end them.
func TestLocalUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs another user: run as root")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("/tmp", "local-user-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	cfg := shell
	cfg.Args, cfg.Run = nil, []string{"sh", "{program}"}
	cfg.Score = []string{"sh", "-c", `sleep 0.2345; test -e "$1/mine" && echo 1e9 || cat "$1/answer"`, "sh", "{run}"}
	e := without(t, cfg, nil)
	attack := exec.Command("sh", "-c", fmt.Sprintf(`cd %s || exit 1
		work=work # the folder of a step, in the evaluator's own
		while sleep 0.02; do for d in evoalloc-command-*; do
			test -e "$d" && echo seen; ls "$d"; cat $d/$work/answer $d/printed
			echo 1e9 > $d/$work/answer; echo > $d/$work/mine; mv $d x; ln -s / $d/$work/y
		done; kill -9 $(ps -eo pid,args | grep '[s]leep 0.2345' | cut -c1-8); done 2>/dev/null`, dir))
	output := filepath.Join(t.TempDir(), "said")
	out, err := os.Create(output)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	attack.Stdout = out
	said := func() string {
		text, err := os.ReadFile(output)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	attack.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL,
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	// It is killed with the thread that started it. The sandbox discards threads that it has used, so this one is kept.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := attack.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-attack.Process.Pid, syscall.SIGKILL)
		_ = attack.Wait()
	}()
	for i := 0; i < 2 || i < 100 && said() == ""; i++ { // until the other user has had the time to try
		r, err := e.Evaluate(t.Context(), "umask 0; chmod 777 . ..; echo 2 > answer; mkdir -m 777 d; sleep 0.1")
		if err != nil || r.Score != 2 || !r.Valid {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	if text := said(); text == "" || strings.ReplaceAll(text, "seen\n", "") != "" {
		t.Errorf("another user read %.200q", text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "[ex]*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
