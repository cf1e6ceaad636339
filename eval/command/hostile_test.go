package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/sandbox"
	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// without returns an evaluator that runs shell scripts and does without some mechanisms.
func without(t *testing.T, cfg Config, ms []isolation.Mechanism) *Evaluator {
	t.Helper()
	cfg.Logger = quiet
	rest := slices.DeleteFunc(sandbox.Mechanisms(), func(m isolation.Mechanism) bool { return slices.Contains(ms, m) })
	c, err := newCommand(cfg, rest)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		if c.Isolation().Has(m) {
			t.Errorf("%s is in force", m)
		}
	}
	return &Evaluator{c}
}

// families are what a kernel or its settings may withhold. The normal run takes two of them: nothing, and what most
// containers withhold, where Landlock and seccomp are alone.
var families = map[string][]isolation.Mechanism{
	"nothing":    nil,
	"namespaces": {sandbox.UserNS, sandbox.PIDNS, sandbox.NetNS, sandbox.IPCNS, sandbox.MountNS},
	"mounts":     {sandbox.MountNS},
	"landlock":   {sandbox.Landlock},
	"seccomp":    {sandbox.Seccomp},
}

// perFamily runs f without each family of mechanisms. A process that is not root and lacks namespaces
// closes itself for good, and could not have them with another evaluator: that one is tried in a process
// of its own.
func perFamily(t *testing.T, f func(t *testing.T, family string, ms []isolation.Mechanism)) {
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		t.Run("without "+family, func(t *testing.T) {
			if family == "namespaces" && os.Geteuid() > 0 && !sandboxtest.Inside(t) {
				sandboxtest.Rerun(t, sandboxtest.Self, nil, sandboxtest.UserNS)
				return
			}
			f(t, family, ms)
		})
	}
}

var shell = Config{Args: []string{"sh", "{program}"}, Timeout: time.Minute, CPU: 5 * time.Minute, Processes: 64,
	Memory: 1 << 30, FileBytes: 8 << 20}

// TestHostile wants each script to end as one invalid candidate, with a reason that fits.
func TestHostile(t *testing.T) {
	t.Parallel()
	long := []struct{ name, script, reason string }{
		{"memory bomb", `x=x; while :; do x=$x$x; done`, "^exited with status 2: .*memory|signal (6|9|11)"},
		{"fork bomb", `f() { f | f & }; f; while :; do f; done`,
			"^(had more than 64 processes and threads$|exited with status 2)"},
		{"syntax error", `if then`, "^exited with status 2: .*[Ss]yntax error"},
		{"no entry point", `"no such function"`, "^exited with status 127: .*not found$"},
		{"exits", `exit 3`, "^exited with status 3$"},
		{"exits with a word", `echo no luck >&2; exit 1`, "^exited with status 1: no luck$"},
		{"segmentation fault", `kill -SEGV $$`, "signal 11 .segmentation fault.$"},
		{"kills its parent and group", `kill -9 $PPID; kill -9 0; kill -9 -1; echo 1e9; exit 1`,
			"signal 9 .killed.$|^exited with status 1$"},
		{"gigabyte on stdout", `exec cat /dev/zero`, "^printed more than 16 MiB$"},
		{"gigabyte on stderr", `exec cat /dev/zero >&2`, "^printed more than 16 MiB$"},
		{"closes its outputs", `exec >&- 2>&-; exit 0`, "^printed nothing on standard output$"},
		{"gigabyte on disk", `exec cat /dev/zero > file`, "signal 25 |^exited with status 1: .*File too large"},
		{"opens its output by name", `echo 1 > /dev/stdout`, "^exited with status [12]: .*No such device or address$"},
		{"prints two scores", `echo 1; echo 2`,
			"^printed 2 lines of JSON on standard output, and which of them is the result cannot be told$"},
		{"prints nothing", `:`, "^printed nothing on standard output$"},
		{"prints no JSON", `echo score: 1`, "^printed what is not JSON"},
		{"NaN", `echo NaN`, "^printed what is not JSON"},
		{"infinity", `echo 1e999`, "neither a finite number nor an object$"},
		{"NaN inside", `echo '{"combined_score": NaN}'`, "^printed what is not JSON"},
		{"infinity inside", `echo '{"combined_score": 1e999, "x": 1}'`, "^combined_score is 1e999, not a finite number$"},
		{"a word for a score", `echo '{"combined_score": "high"}'`, "^combined_score is high, not a finite number$"},
		{"a string", `echo '"1"'`, "^printed \"1\", which is neither a finite number nor an object$"},
		{"10 MB list", `yes '[[1,2,3]],' | head -c 10000000`, "^printed 10000000 bytes on standard output, more than"},
		{"deep nesting", `head -c 100000 /dev/zero | tr '\0' '['; head -c 100000 /dev/zero | tr '\0' ']'`,
			"^printed what is not JSON"},
		{"writes to what it inherited", `for fd in 3 4 5 6 7 8 9; do eval "echo 1e9 >&$fd"; done 2>/dev/null; exit 0`,
			"^printed nothing on standard output$"},
		{"says error", `echo '{"combined_score": 1, "error": "no"}'`, "^no$"},
		{"no numbers", `echo '{}'`, "^the command printed no number$"},
		{"leaves a child", `(trap '' HUP TERM; while :; do sleep 1; done) & echo no; exit 0`, "^printed what is not JSON"},
		{"leaves a session", `setsid sh -c 'while :; do sleep 1; done' & sleep 0.1; echo no`, "^printed what is not JSON"},
		{"takes the file away", `chmod 0 .; rm -rf * .; mkdir -m 0 x; mkdir -p y/z; chmod 0 y; echo no`,
			"^printed what is not JSON|No such file"},
	}
	// Without namespaces the normal run has the scripts alone that namespaces would stop.
	escapes := []string{"fork bomb", "kills its parent and group", "gigabyte on disk", "leaves a child",
		"leaves a session", "takes the file away"}
	tight := shell
	tight.Memory = 256 << 20 // which a bomb has filled soon
	perFamily(t, func(t *testing.T, family string, ms []isolation.Mechanism) {
		e := without(t, tight, ms)
		for _, h := range long {
			if !notrun.Soak && family != "nothing" && !slices.Contains(escapes, h.name) {
				continue
			}
			if h.name == "fork bomb" && !e.Isolation().Has(sandbox.Processes) {
				continue // nothing binds, which the report says; do not harm the machine
			}
			t.Run(h.name, func(t *testing.T) { hostile(t, e, h.script, h.reason) })
		}
		short := shell
		short.Timeout = time.Second
		s := without(t, short, ms)
		for name, script := range map[string]string{
			"loop": `while :; do :; done`, "loop in C": `exec awk 'BEGIN { while (1); }'`,
			"import that hangs": `mkfifo f; . ./f`, "sleep": `sleep 999`, "stopped": `kill -STOP $$; sleep 999`,
			"deaf": `trap '' HUP INT TERM XCPU; while :; do sleep 999; done`,
		} {
			if !notrun.Soak && family != "nothing" && name != "deaf" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				hostile(t, s, script, "^ran longer than 1s$")
			})
		}
	})
}

func hostile(t *testing.T, e *Evaluator, script, reason string) {
	t.Helper()
	res, err := e.Evaluate(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	if res.Valid || !regexp.MustCompile(reason).MatchString(res.Reason) {
		t.Errorf("result %+.300v, want invalid with reason %q", res, reason)
	}
	for name, text := range res.Artifacts {
		if len(text) > 40<<10 {
			t.Errorf("artifact %s has %d bytes", name, len(text))
		}
	}
}

func TestProcessorTime(t *testing.T) {
	t.Parallel()
	cfg := shell
	cfg.CPU, cfg.Timeout = time.Second, 5*time.Minute
	hostile(t, without(t, cfg, nil), `trap '' XCPU; while :; do :; done`, "^used more than 1s of processor time$")
}

// driver runs an attack, a Python program in the python adapter's testdata, and prints what it returns.
const driver = `import json, runpy, sys; print(json.dumps(runpy.run_path(sys.argv[1])["run"]()))`

// onlySeccomp are the attacks that nothing else stops: sockets with a path, a user namespace (which
// gives nothing that leads out), what belongs to a file but is not in it, and what one may do to one's
// own parent.
var onlySeccomp = []string{"connect", "datagram", "paired", "namespace", "change mode", "change mode of descriptor",
	"change times", "flags", "attribute", "trace"}

func attack(t *testing.T, e *Evaluator, name string, replace ...string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "python", "testdata", "hostile", name+".py"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{e.command}
	out, err := r.Run(t.Context(), strings.NewReplacer(replace...).Replace(string(text)), "run")
	var bad *eval.ProgramError
	if errors.As(err, &bad) {
		return []string{bad.Reason}
	}
	if err != nil {
		t.Fatal(err)
	}
	var through []string
	if err := json.Unmarshal(out, &through); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return slices.DeleteFunc(through, func(name string) bool {
		return !e.Isolation().Has(sandbox.Seccomp) && slices.Contains(onlySeccomp, name)
	})
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	needPython(t)
	cfg := shell
	cfg.Timeout = 20 * time.Second
	cfg.Args = []string{pythonPath, "-c", driver, "{program}"}
	perFamily(t, func(t *testing.T, family string, ms []isolation.Mechanism) {
		e := without(t, cfg, ms)
		t.Run("network", func(t *testing.T) { testNetwork(t, e) })
		t.Run("secrets", func(t *testing.T) {
			if got := attack(t, e, "secrets", "SECRET", secret[:8]+"\" \""+secret[8:], "PID",
				fmt.Sprint(os.Getpid())); len(got) > 0 {
				t.Errorf("found in %q", got)
			}
		})
		t.Run("others", func(t *testing.T) {
			got := attack(t, e, "others", "PID", fmt.Sprint(os.Getpid()))
			if len(got) != 1 || !regexp.MustCompile("signal (9|15)|went through: nothing|^ran longer").MatchString(got[0]) {
				t.Errorf("got %q", got)
			}
		})
		t.Run("descriptors", func(t *testing.T) { testDescriptors(t, e) })
		if family != "landlock" { // which is all there is without private mounts
			t.Run("files", func(t *testing.T) { testFiles(t, e) })
		}
	})
}

// testNetwork offers a server on loopback and on a path, and wants nobody to come.
func testNetwork(t *testing.T, e *Evaluator) {
	path := filepath.Join(t.TempDir(), "s")
	for _, address := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", path},
		{"unixgram", filepath.Join(filepath.Dir(path), "d")},
		{"unix", fmt.Sprintf("@evoalloc-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())}} {
		at := listen(t, address[0], address[1])
		if got := attack(t, e, "network", "ADDRESS", at); len(got) > 0 {
			t.Errorf("went through to %v: %q", at, got)
		}
	}
}

// listen listens until the end of the test, and returns the address.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	if network == "unixgram" {
		l, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.LocalAddr().String()
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// testDescriptors wants a command to have inherited none but the usual.
func testDescriptors(t *testing.T, e *Evaluator) {
	r := &Runner{e.command}
	out, err := r.Run(t.Context(),
		"import os\ndef run():\n  fds = []\n  for fd in range(256):\n    try: os.fstat(fd)\n    except OSError: continue\n    fds.append(fd)\n  return fds", "run")
	if err != nil || string(out) != "[0, 1, 2]" {
		t.Errorf("a candidate has descriptors %s, %v; want its input and outputs", out, err)
	}
}

// testFiles wants a folder to be as it was after an attack on it.
func testFiles(t *testing.T, e *Evaluator) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "sub", "victim")
	for _, sub := range []string{"sub", "empty"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{victim, filepath.Join(dir, "evaluator.py")} {
		if err := os.WriteFile(name, []byte("as it was"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := attack(t, e, "files", "FOLDER", dir); len(got) > 0 {
		t.Errorf("went through: %q", got)
	}
	if !e.Isolation().Has(sandbox.Seccomp) {
		if err := os.Chmod(victim, 0o644); err != nil { // which nothing else stops from being changed
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "as it was" {
		t.Errorf("the victim is %q, %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestCancel(t *testing.T) {
	e := without(t, shell, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Evaluate(ctx, "sleep 999"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }
