package python

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// TestFresh wants every candidate to find the same surroundings, whatever others did.
func TestFresh(t *testing.T) {
	r := newTestRunner(t, Config{Workers: 2, Imports: []string{"numpy"}})
	const look = `
import builtins, json, os, random, sys, threading
import numpy as np
def run():
    seen = [getattr(builtins, "mark", 0), json.dumps(1), os.listdir("."), random.random(), np.random.rand(), hash("x"),
        sorted(os.environ), threading.active_count(), os.path.basename(os.getcwd()) == os.path.basename(os.environ["HOME"]), __name__, sys.argv]
    builtins.mark = 1
    json.dumps = len
    np.random.seed(7)
    open("left", "w").close()
    os.environ["LEFT"] = "1"
    return seen
`
	first := ""
	for range 6 {
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				out, err := r.Run(context.Background(), look, "run")
				if err != nil {
					t.Error(err)
				}
				if s := string(out); first == "" {
					first = s
				} else if s != first {
					t.Errorf("one candidate saw %s, another %s", first, s)
				}
			})
			group.Wait() // one after the other, on whichever interpreter is idle
		}
	}
	if !strings.HasPrefix(first, `[0, "1", [], 0.8444218515250481, 0.5488135039273248,`) {
		t.Errorf("a candidate saw %s", first)
	}
}

// TestZygoteDies has interpreters die between candidates and under one.
func TestZygoteDies(t *testing.T) {
	r := newTestRunner(t, Config{Workers: 1})
	killed := filepath.Join(t.TempDir(), "killed")
	for _, when := range []string{"idle", "at work"} {
		pid := r.pool.idle[0].cmd.Process.Pid
		kill := func() {
			p, err := os.FindProcess(pid)
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(killed, nil, 0o644); err != nil {
				t.Error(err)
			}
		}
		program := "def run(): return 1"
		if when == "at work" {
			if err := os.Remove(killed); err != nil {
				t.Fatal(err)
			}
			program = fmt.Sprintf("import os, time\ndef run():\n  while not os.path.exists(%q): time.sleep(0.01)\n  return 1",
				killed)
			time.AfterFunc(100*time.Millisecond, kill)
		} else {
			kill()
		}
		out, err := r.Run(t.Context(), program, "run")
		if err != nil || string(out) != "1" {
			t.Errorf("%s: got %s, %v", when, out, err)
		}
		if next := r.pool.idle[0].cmd.Process.Pid; next == pid {
			t.Errorf("%s: the interpreter was not replaced", when)
		}
	}
}

// TestZygoteDiesTwice blames a candidate that takes its interpreter with it both times.
func TestZygoteDiesTwice(t *testing.T) {
	r := without(t, Config{Workers: 1, Timeout: time.Minute}, slices.Concat(families["namespaces"], families["seccomp"]))
	_, err := r.Run(t.Context(), "import os, signal\ndef run():\n  os.kill(os.getppid(), signal.SIGKILL)\n  while True: pass", "run")
	var bad *eval.ProgramError
	if !errors.As(err, &bad) || bad.Reason != "ended the interpreter that ran it, twice" {
		t.Errorf("got %v", err)
	}
	if out, err := r.Run(t.Context(), "def run(): return 1", "run"); err != nil || string(out) != "1" {
		t.Errorf("the next candidate got %s, %v", out, err)
	}
}

// TestCannotFork has an interpreter that cannot fork, which is no candidate's fault.
func TestCannotFork(t *testing.T) {
	needPython(t)
	cfg := Config{Workers: 1, Interpreter: interpreterPath, Logger: quiet, Isolation: isolation.None}
	r := newTestRunner(t, cfg)
	r.pool.kind.code = bytes.Replace(r.pool.kind.code, []byte("pid = os.fork()"), []byte("raise OSError(11, 'too few')"),
		1)
	r.pool.kind.patience = 10 * time.Millisecond
	old := r.pool.idle[0]
	old.kill()
	_ = old.process.Wait() // that it was killed is no news
	_, err := r.Run(t.Context(), "def run(): return 1", "run")
	var bad *eval.ProgramError
	if err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), "too few") {
		t.Errorf("got %v, want an error that is not the program's", err)
	}
}

// TestForksAgain has no interpreter be able to fork for a while, which a candidate waits out.
func TestForksAgain(t *testing.T) {
	r := newTestRunner(t, Config{Workers: 1, Imports: []string{}})
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	replace(t, r, "pid = os.fork()",
		fmt.Sprintf("pid = os.open('/nonexistent/file', 0) if os.path.exists(%q) else os.fork()", short))
	timer := time.AfterFunc(300*time.Millisecond, func() { _ = os.Remove(short) })
	defer timer.Stop()
	before := r.pool.idle[0]
	if out, err := r.Run(t.Context(), "def run(): return 1", "run"); err != nil || string(out) != "1" {
		t.Errorf("got %s, %v", out, err)
	}
	if r.pool.idle[0] == before {
		t.Error("the interpreter that could not fork was kept")
	}
}

// TestLeftBehind has a candidate leave what cannot be removed, which costs the candidate and is logged, and
// the next one is well.
func TestLeftBehind(t *testing.T) {
	needPython(t)
	var log bytes.Buffer
	cfg := Config{Workers: 1, Imports: []string{}, Interpreter: interpreterPath,
		Logger: slog.New(slog.NewTextHandler(&log, nil))}
	r, err := NewRunner(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, r, "os.getpriority(os.PRIO_PROCESS, 0), cpus", "os.urandom(9), cpus") // so that nothing is as it was
	replace(t, r, `self.orders["filtered"] or `, "")
	z := r.pool.idle[0]
	scratch := z.scratch
	z.scratch = "/proc/self" // which nobody can remove
	var bad *eval.ProgramError
	if out, err := r.Run(t.Context(), "def run(): return 1", "run"); !errors.As(err, &bad) ||
		bad.Reason != "left a temporary folder that cannot be removed" {
		t.Errorf("got %s, %v", out, err)
	}
	if text := log.String(); !strings.Contains(text, "folder=/proc/self") || len(text) > 4000 {
		t.Errorf("logged %s", text)
	}
	if out, err := r.Run(t.Context(), "def run(): return 1", "run"); err != nil || string(out) != "1" {
		t.Errorf("the next candidate got %s, %v", out, err)
	}
	if _, err := os.Stat(scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next interpreter did not remove %s, which nobody claims any more: %v", scratch, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	needPython(t)
	r, err := NewRunner(t.Context(), Config{Workers: 2, Logger: quiet, Interpreter: interpreterPath})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		_, err := r.Run(context.Background(), "import time\ndef run(): time.sleep(999)", "run")
		got <- err
	}()
	for busy := 0; busy == 0; time.Sleep(time.Millisecond) {
		r.pool.mu.Lock()
		busy = len(r.pool.busy)
		r.pool.mu.Unlock()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-got; !errors.Is(err, ErrClosed) {
		t.Errorf("a candidate that was running got %v", err)
	}
	if _, err := r.Run(t.Context(), "def run(): return 1", "run"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// TestUnclean has a candidate leave what its interpreter cannot remove.
func TestUnclean(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"nothing", "mounts"} {
		r := without(t, Config{Workers: 1}, families[family])
		out, err := r.Run(t.Context(),
			"import os\ndef run():\n  for i in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\n  os.mkdir('closed', 0)\n  return 1", "run")
		if err != nil || string(out) != "1" {
			t.Errorf("without %s: got %s, %v", family, out, err)
		}
		if out, err := r.Run(t.Context(), "import os\ndef run(): return os.listdir('.')", "run"); err != nil ||
			string(out) != "[]" {
			t.Errorf("without %s: the next candidate got %s, %v", family, out, err)
		}
	}
}

// TestLimits reaches the limit on processor time, deaf to the warning.
func TestLimits(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Config{Workers: 1, CPU: time.Second, Timeout: 5 * time.Minute})
	_, err := r.Run(t.Context(), "import signal\ndef run():\n  signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n  while True: pass", "run")
	if err == nil || err.Error() != "used more than 1s of processor time" {
		t.Errorf("got %v", err)
	}
}

// TestOutput wants what a candidate prints to be kept, from both ends.
func TestOutput(t *testing.T) {
	r := newTestRunner(t, Config{Workers: 1, OutputBytes: 64})
	_, err := r.Run(t.Context(), "import os, sys\ndef run():\n  print('first ' + 'x' * 1000 + ' last')\n  os.write(2, b'\\xff\\n')\n  print('é', file=sys.stderr)\n  1/0", "run")
	var bad *eval.ProgramError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	if want := "first " + strings.Repeat("x", 26) + "\n... 948 bytes left out ...\n" + strings.Repeat("x", 26) +
		" last\n"; bad.Artifacts["stdout"] != want {
		t.Errorf("stdout is %q", bad.Artifacts["stdout"])
	}
	if bad.Artifacts["stderr"] != "\ufffd\né\n" {
		t.Errorf("stderr is %q", bad.Artifacts["stderr"])
	}
	if out, err := r.Run(t.Context(),
		"import os, sys\ndef run():\n  os.close(1)\n  os.close(2)\n  sys.stdout = None\n  return 1", "run"); err != nil ||
		string(out) != "1" {
		t.Errorf("a candidate that closes its outputs got %s, %v", out, err)
	}
}

func TestIsolationLevels(t *testing.T) {
	needPython(t)
	var log bytes.Buffer
	cfg := Config{Workers: 1, Interpreter: interpreterPath, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	cfg.Isolation = isolation.None
	r, err := NewRunner(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Isolation().InForce(); !slices.Equal(got, []isolation.Mechanism{sandbox.Group, sandbox.Limits}) {
		t.Errorf("with isolation.None, in force: %v", got)
	}
	if out, err := r.Run(t.Context(),
		"import subprocess\ndef run(): return subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout",
		"run"); err != nil || string(out) != `"hi\n"` {
		t.Errorf("with None: %s, %v", out, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "isolation=none") {
		t.Errorf("logged %q", &log)
	}
	cfg.Isolation = isolation.Strict
	r, err = NewRunner(t.Context(), cfg)
	if err == nil {
		if missing := r.Isolation().Missing(); len(missing) > 0 {
			t.Errorf("Strict began without %v", missing)
		}
		err = r.Close()
	}
	if err != nil && !strings.Contains(err.Error(), "this machine lacks") {
		t.Error(err)
	}
}

// TestStrict is an error at start where a mechanism is missing.
func TestStrict(t *testing.T) {
	plan, err := sandbox.NewPlan(isolation.Strict, sandbox.Mechanisms())
	if err != nil {
		t.Fatal(err)
	}
	k := &kind{plan: plan}
	_, err = k.check(hello{Missing: map[isolation.Mechanism]string{sandbox.Landlock: "turned off"}}, isolation.Strict)
	if err == nil || !strings.Contains(err.Error(), "landlock (turned off)") {
		t.Errorf("got %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	needPython(t)
	for _, c := range []struct {
		want string
		cfg  Config
	}{
		{"Config.Workers is -1", Config{Workers: -1}},
		{"Config.Timeout is 1", Config{Timeout: 1}},
		{"Config.Memory is 1", Config{Memory: 1}},
		{"Config.Isolation", Config{Isolation: 9}},
		{"looking for the interpreter /surely-not-there", Config{Interpreter: "/surely-not-there"}},
		{"cannot import surely_not_there: No module named",
			Config{Interpreter: interpreterPath, Imports: []string{"surely_not_there"}, Logger: quiet}},
	} {
		_, err := NewRunner(t.Context(), c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "python: ") {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// fake makes a folder with an executable of that name.
func fake(t *testing.T, name, script string) (folder string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	needPython(t)
	path := os.Getenv("PATH")
	t.Setenv("PATH", fake(t, "python3", "echo 'this is no Python' >&2; exit 3")+":"+path)
	if got, err := Find(t.Context(), "json"); err != nil || strings.Contains(got, os.TempDir()) {
		t.Errorf("got %q, %v, want the system's", got, err)
	}
	_, err := Find(t.Context(), "json", "surely_not_there")
	for _, want := range []string{"python3 (this is no Python)", interpreterPath,
		"lacks surely_not_there: No module named 'surely_not_there'"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	// A wrapper that chooses an interpreter is seen through.
	t.Setenv("PATH", fake(t, "python3", fmt.Sprintf("exec %s \"$@\"", interpreterPath))+":"+path)
	if got, err := Find(t.Context(), "json"); err != nil || got != interpreterPath {
		t.Errorf("got %q, %v, want %q", got, err, interpreterPath)
	}
	if _, err := find(t.Context(), "surely-not-there", query{}); err == nil ||
		!strings.Contains(err.Error(), "surely-not-there") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
