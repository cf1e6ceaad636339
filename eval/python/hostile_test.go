package python

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
)

const secret = "sk-not-for-candidates"

// A hostile program must end as one invalid candidate, with a reason that fits.
type hostile struct {
	name    string
	program string
	reason  string // a regular expression
	short   bool   // it runs until it is stopped
}

var loops = []hostile{
	{"loop", "def run():\n  while True: pass", "^ran longer than 2s$", true},
	{"loop in C", "import re\ndef run():\n  re.match(r'(a+)+$', 'a' * 64 + 'b')", "^ran longer than 2s$", true},
	{"loop while imported", "while True: pass", "^ran longer than 2s$", true},
	{"import that hangs", "open('slow.py', 'w').write('import time\\ntime.sleep(999)')\nimport sys\nsys.path.insert(0, '.')\ndef run():\n  import slow", "^ran longer than 2s$", true},
	{"deaf to signals", "import signal, time\nfor s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\ndef run():\n  while True: time.sleep(1)", "^ran longer than 2s$", true},
	{"stops itself", "import os, signal\ndef run():\n  os.kill(os.getpid(), signal.SIGSTOP)\n  while True: pass",
		"^(ran longer than 2s|PermissionError.*)$", true},
	{"exception that cannot be shown",
		"class E(Exception):\n  def __str__(self):\n    while True: pass\ndef run(): raise E", "^ran longer than 2s$", true},
	{"locks up", "import threading\ndef run():\n  l = threading.Lock()\n  l.acquire()\n  l.acquire()",
		"^ran longer than 2s$", true},
}

var crashes = []hostile{
	{"memory bomb", "def run():\n  b = []\n  while True: b.append(bytearray(1 << 24))",
		`^ran out of memory \(256 MiB allowed\)`, false},
	{"memory bomb in C", "import numpy as np\ndef run():\n  return np.ones(10 ** 10)",
		`^ran out of memory \(256 MiB allowed\)`, false},
	{"fork bomb", "import os\ndef run():\n  while True: os.fork()", "^PermissionError: .*not permitted", false},
	{"fork bomb by the shell", "import subprocess\ndef run():\n  subprocess.run(['sh', '-c', 'f() { f | f & }; f'], check=True)", "not permitted|BlockingIOError|unavailable", false},
	{"fork bomb by the C library",
		"import ctypes\ndef run():\n  f = ctypes.CDLL(None, use_errno=True)\n  assert f.fork() == -1 and f.vfork() == -1\n  raise Exception('no fork')", "no fork", false},
	{"thread bomb", "import threading, time\ndef run():\n  while True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()", "can't start new thread|ran out of memory", false},
	{"recursion", "def run(): return run()", "RecursionError", false},
	{"leaves at once", "import os\ndef run(): os._exit(0)", "^exited with status 0 before it returned$", false},
	{"leaves with a status", "import os\ndef run(): os._exit(3)", "^exited with status 3 before it returned$", false},
	{"sys.exit", "import sys\ndef run(): sys.exit(0)", "^SystemExit: 0", false},
	{"segmentation fault", "import ctypes\ndef run(): ctypes.string_at(0)",
		`^was ended by signal 11 \(segmentation fault\)`, false},
	{"abort", "import os\ndef run(): os.abort()", "^was ended by signal (6|11)", false},
	{"exception", "def run(): raise ValueError('no')", `^ValueError: no \(line 1\)$`, false},
	{"exception of a kind of its own", "class E(BaseException):\n  def __str__(self): raise self\ndef run(): raise E",
		"^E, which cannot be shown$", false},
	{"exception that says too much", "def run(): raise Exception('x' * 10 ** 7)", "^Exception: x{900}x*$", false},
	{"gigabyte on stdout", "def run():\n  for _ in range(1024): print('x' * (1 << 20))", "^printed more than 16 MiB$",
		false},
	{"gigabyte on stderr", "import os\ndef run():\n  for _ in range(1024): os.write(2, b'x' * (1 << 20))",
		"^printed more than 16 MiB$", false},
	{"gigabyte on disk", "def run():\n  with open('big', 'wb') as f:\n    for _ in range(1024): f.write(b'x' * (1 << 20))",
		"File too large|No space left", false},
	{"many files", "def run():\n  for i in range(10 ** 6): open(str(i), 'w').close()", "No space left", false},
	{"syntax error", "def run(:", `^SyntaxError: .*\(program.py, line 1\)$`, false},
	{"null byte", "x = '\x00'", "null byte", false},
	{"no text", "x = '\xff'", "^UnicodeDecodeError: .*0xff", false},
	{"no entry point", "x = 1", "^defines no function run$", false},
	{"entry point is no function", "run = 1", "^run is of type int, not a function$", false},
	{"entry point wants more", "def run(x): pass", "^TypeError: .*argument", false},
	{"import of nothing", "import nonexistent", "^ModuleNotFoundError", false},
}

var results = []hostile{
	{"NaN", "def run(): return [float('nan')]", "^returned a number that is not finite$", false},
	{"infinity", "def run(): return float('-inf')", "^returned a number that is not finite$", false},
	{"NaN in an array", "import numpy as np\ndef run(): return np.array([1, np.nan])",
		"^returned a number that is not finite$", false},
	{"infinity in a key", "def run(): return {float('inf'): 1}", "not finite", false},
	{"NaN as a word", "def run(): return 'NaN'", "no points", false},
	{"string", "def run(): return 'score: 1'", "no points", false},
	{"nothing", "def run(): pass", "no points", false},
	{"object", "def run(): return object()", "^returned a value of type object, which is not data$", false},
	{"set", "def run(): return {1}", "^returned a value of type set, which is not data$", false},
	{"complex", "import numpy as np\ndef run(): return np.array([1j])",
		"^returned a value of type complex, which is not data$", false},
	{"generator", "def run(): yield 1", "^returned a value of type generator, which is not data$", false},
	{"coroutine", "async def run(): pass", "^returned a value of type coroutine, which is not data$", false},
	{"tuple key", "def run(): return {(1, 2): 3}", "^returned something that is not data", false},
	{"10 MB nested list", "def run(): return [[[1, 2, 3]] * 1000] * 1000",
		`^returned \d+ bytes of JSON, more than the \d+ allowed$`, false},
	{"recursive object", "def run():\n  x = []\n  x.append(x)\n  return x", "^returned an object that contains itself$",
		false},
	{"deep nesting", "def run():\n  x = []\n  for _ in range(10 ** 5): x = [x]\n  return x",
		"^returned data that is nested too deeply$", false},
	{"array of itself", "import numpy as np\ndef run():\n  a = np.empty(1, object)\n  a[0] = a\n  return a",
		"contains itself|nested too deeply", false},
	{"list that lies", "class L(list):\n  def __iter__(self):\n    while True: yield 1\n  def __len__(self): return 1\ndef run(): return L()", ".", false},
}

// points is a score that accepts a list of numbers.
func points(out json.RawMessage) eval.Result {
	var xs []float64
	if err := json.Unmarshal(out, &xs); err != nil || len(xs) == 0 {
		return eval.Invalid("no points: %.100s", out)
	}
	return eval.Result{Score: xs[0], Valid: true}
}

// families are what a kernel or its settings may withhold. Each attack must fail without any one of
// them, but for what only seccomp stops. The normal run takes two of them: nothing, and what most containers withhold,
// where Landlock and seccomp are alone.
var families = map[string][]isolation.Mechanism{
	"nothing":    nil,
	"namespaces": {sandbox.UserNS, sandbox.PIDNS, sandbox.NetNS, sandbox.IPCNS, sandbox.MountNS},
	"mounts":     {sandbox.MountNS},
	"landlock":   {sandbox.Landlock},
	"seccomp":    {sandbox.Seccomp},
}

// onlySeccomp are the attacks that nothing else stops: sockets with a path, and a user namespace (which
// gives nothing that leads out).
var onlySeccomp = []string{"connect", "namespace"}

// A victim is a Runner, or an Evaluator with the evaluator inProcess.
type victim interface {
	Isolation() isolation.Report
	run(ctx context.Context, program string) (json.RawMessage, error)
	held() *pool
}

func (r *Runner) run(ctx context.Context, program string) (json.RawMessage, error) {
	return r.Run(ctx, program, "run")
}
func (r *Runner) held() *pool { return r.pool }

// run has a program run in the evaluator's own process, in the temporary folder.
func (e *Evaluator) run(ctx context.Context, program string) (json.RawMessage, error) {
	res, err := e.Evaluate(ctx, inScratch+program)
	if err == nil && !res.Valid {
		err = &eval.ProgramError{Reason: res.Reason, Artifacts: res.Artifacts}
	}
	return json.RawMessage(res.Artifacts["returned"]), err
}
func (e *Evaluator) held() *pool { return e.pool }

// inProcess runs a candidate in the evaluator's own process.
const inProcess = `
import json, runpy
def evaluate(path):
    returned = runpy.run_path(path)["run"]()
    return {"combined_score": 1, "returned": json.dumps(returned, default=str)}
`

// inScratch has a candidate of inProcess begin where one of a Runner does.
const inScratch = "import os\nos.chdir(os.environ['TMPDIR'])\n"

// through returns what went through on v although it should not have.
func through(v victim, names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return !v.Isolation().Has(sandbox.Seccomp) && slices.Contains(onlySeccomp, name)
	})
}

// without returns a Runner that does without some mechanisms.
func without(t *testing.T, cfg Config, ms []isolation.Mechanism) *Runner {
	t.Helper()
	needPython(t)
	cfg.Logger, cfg.Interpreter = quiet, interpreterPath
	cfg, err := cfg.filled(0)
	if err != nil {
		t.Fatal(err)
	}
	rest := slices.DeleteFunc(sandbox.Mechanisms(), func(m isolation.Mechanism) bool { return slices.Contains(ms, m) })
	k, err := newKind(t.Context(), cfg, rest, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	k.grace = time.Second
	p, report, err := open(t.Context(), cfg, k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return &Runner{p, cfg, report}
}

// evaluatorWithout returns an Evaluator on dir that does without some mechanisms.
func evaluatorWithout(t *testing.T, dir string, cfg Config, ms []isolation.Mechanism) *Evaluator {
	t.Helper()
	needPython(t)
	cfg.Logger, cfg.Interpreter = quiet, interpreterPath
	rest := slices.DeleteFunc(sandbox.Mechanisms(), func(m isolation.Mechanism) bool { return slices.Contains(ms, m) })
	e, err := newEvaluator(t.Context(), dir, EvaluatorConfig{Config: cfg}, rest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// shortTime is for programs that run until they are stopped. The others have all the time that a busy
// machine may need for them. No program of one thread comes to the limit on processor time, however late
// this process is to see that the other one has passed.
const shortTime = 2 * time.Second

var hostileConfig = Config{Workers: 2, Timeout: time.Minute, CPU: 5 * time.Minute, Memory: 256 << 20,
	fileBytes: 32 << 20, scratchBytes: 64 << 20}

func TestHostile(t *testing.T) {
	t.Parallel()
	short := hostileConfig
	short.Timeout, short.Workers = shortTime, 4
	check(t, newTestRunner(t, short), loops)
	check(t, newTestRunner(t, hostileConfig), slices.Concat(crashes, results))
}

// TestRunnerProcesses has what outlives a candidate be gone with it where nothing keeps a Runner's
// candidates from having other processes.
func TestRunnerProcesses(t *testing.T) {
	t.Parallel()
	outliving := slices.DeleteFunc(slices.Clone(processes), func(h hostile) bool {
		return !strings.HasPrefix(h.name, "outlives") && h.name != "holds the pipes"
	})
	check(t, without(t, hostileConfig, families["seccomp"]), outliving)
	bare := hostileConfig
	bare.Isolation = isolation.None
	check(t, without(t, bare, nil), outliving)
}

// check runs each program on r, and after it one that means no harm.
func check(t *testing.T, r *Runner, set []hostile) {
	t.Helper()
	e := eval.Scored(r, "run", points)
	checkAll(t, set, e.Evaluate)
	settled(t, r)
}

// checkAll has each program end as one invalid candidate.
func checkAll(t *testing.T, set []hostile, evaluate func(context.Context, string) (eval.Result, error)) {
	t.Run("", func(t *testing.T) {
		for _, h := range set {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				res, err := evaluate(t.Context(), h.program)
				if err != nil {
					t.Fatal(err)
				}
				if res.Valid || !regexp.MustCompile(h.reason).MatchString(res.Reason) {
					t.Errorf("result %+.300v, want invalid with reason %q", res, h.reason)
				}
				for name, text := range res.Artifacts {
					if len(text) > 40<<10 {
						t.Errorf("artifact %s has %d bytes", name, len(text))
					}
				}
			})
		}
	})
}

// settled wants nothing to be left of what v has run: the next candidate is well and finds an empty
// folder, and its interpreters have no processes besides them and see the same mounts as one that is
// new.
func settled(t *testing.T, v victim) {
	t.Helper()
	if out, err := v.run(t.Context(),
		"import os\ndef run(): return [f for f in os.listdir('.') if f != 'program.py']"); err != nil || string(out) != "[]" {
		t.Errorf("the next candidate got %s, %v", out, err)
	}
	fresh, _, err := startZygote(t.Context(), v.held().kind)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := fresh.close(); err != nil {
			t.Error(err)
		}
	}()
	v.held().mu.Lock()
	defer v.held().mu.Unlock()
	for _, z := range v.held().idle {
		pid := z.cmd.Process.Pid
		if pids := childrenOf(pid); len(pids) > 0 {
			t.Errorf("processes %v are left", pids)
		}
		if got, want := mounts(t, pid), mounts(t, fresh.cmd.Process.Pid); got != want {
			t.Errorf("%d mounts, want %d", got, want)
		}
		if files, err := os.ReadDir(z.scratch); err != nil || len(files) > 0 {
			t.Errorf("files %v are left, %v", files, err)
		}
	}
}

// mounts counts what is mounted for a process; 0 where that cannot be known.
func mounts(t *testing.T, pid int) int {
	t.Helper()
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	return strings.Count(string(info), "\n")
}

// attack is a program in testdata/hostile, which tries many ways to one end. It says what went
// through as its result, a list of names.
func attack(t *testing.T, v victim, name string, replace ...string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hostile", name+".py"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := v.run(t.Context(), strings.NewReplacer(replace...).Replace(string(text)))
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
	return through
}

// TestAttacks has programs try what must not go through, without any one family of mechanisms, on a
// Runner and in the process of an evaluator, whose folder they have under their hands.
func TestAttacks(t *testing.T) {
	t.Parallel()
	cfg := hostileConfig
	cfg.Timeout = 20 * time.Second
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		t.Run("without "+family, func(t *testing.T) {
			dir := victimFolder(t)
			if notrun.Soak || family == "nothing" {
				t.Run("Runner", func(t *testing.T) { testAttacks(t, without(t, cfg, ms), dir, ms) })
			}
			if notrun.Soak || family != "nothing" {
				t.Run("Evaluator", func(t *testing.T) { testAttacks(t, evaluatorWithout(t, dir, cfg, ms), dir, ms) })
			}
		})
	}
}

func testAttacks(t *testing.T, v victim, dir string, missing []isolation.Mechanism) {
	for _, m := range missing {
		if v.Isolation().Has(m) {
			t.Errorf("%s is in force", m)
		}
	}
	t.Run("network", func(t *testing.T) { testNetwork(t, v) })
	t.Run("files", func(t *testing.T) { testFiles(t, v, dir) })
	t.Run("secrets", func(t *testing.T) { testSecrets(t, v) })
	t.Run("others", func(t *testing.T) { testOthers(t, v) })
	t.Run("descriptors", func(t *testing.T) { testDescriptors(t, v) })
	settled(t, v)
}

// testNetwork offers a server on loopback and on a path, and wants nobody to come.
func testNetwork(t *testing.T, v victim) {
	path := filepath.Join(t.TempDir(), "s")
	for _, address := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", path},
		{"unix", fmt.Sprintf("@evoalloc-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())}} {
		l, err := net.Listen(address[0], address[1])
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if got := through(v, attack(t, v, "network", "ADDRESS", l.Addr().String())); len(got) > 0 {
			t.Errorf("went through to %v: %q", l.Addr(), got)
		}
		if address[0] == "unix" && !v.Isolation().Has(sandbox.Seccomp) {
			continue
		}
		if err := l.(interface{ SetDeadline(time.Time) error }).SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if c, err := l.Accept(); err == nil {
			t.Errorf("%v was connected to", l.Addr())
			c.Close()
		}
	}
	datagrams, err := net.ListenPacket("unixgram", filepath.Join(filepath.Dir(path), "d"))
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	got := attack(t, v, "network", "ADDRESS", datagrams.LocalAddr().String())
	if v.Isolation().Has(sandbox.Seccomp) && len(got) > 0 {
		t.Errorf("went through to %v: %q", datagrams.LocalAddr(), got)
	}
}

// victimFolder makes a folder with an evaluator and more to spoil.
func victimFolder(t *testing.T) string {
	t.Helper()
	dir := folder(t, inProcess)
	for _, sub := range []string{"sub", "empty"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "victim"), []byte("as it was"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// testFiles wants a folder to be as it was after an attack on it.
func testFiles(t *testing.T, v victim, dir string) {
	before := snapshot(t, dir)
	got := through(v, attack(t, v, "files", "FOLDER", dir))
	if after := snapshot(t, dir); after != before {
		t.Errorf("before:\n%s\nafter %q:\n%s", before, got, after)
	}
	// What an evaluator's candidates write goes to a layer over the folder, which is thrown away after each.
	if _, layered := v.(*Evaluator); len(got) > 0 && !(layered && v.Isolation().Has(sandbox.MountNS)) {
		t.Errorf("went through: %q", got)
	}
}

func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func testSecrets(t *testing.T, v victim) {
	got := through(v, attack(t, v, "secrets", "SECRET", secret[:8]+"\" \""+secret[8:], "PID", fmt.Sprint(os.Getpid())))
	if len(got) > 0 {
		t.Errorf("found in %q", got)
	}
}

// testOthers has a program attack its parent, its group and this process.
func testOthers(t *testing.T, v victim) {
	got := through(v, attack(t, v, "others", "PID", fmt.Sprint(os.Getpid())))
	if len(got) != 1 || !regexp.MustCompile("by signal (9|15)|went through: nothing|^ran longer").MatchString(got[0]) {
		t.Errorf("got %q", got)
	}
	if out, err := v.run(t.Context(), "def run(): return 1"); err != nil || string(out) != "1" {
		t.Errorf("the next candidate got %s, %v", out, err)
	}
}

func testDescriptors(t *testing.T, v victim) {
	if got := attack(t, v, "descriptors"); !slices.Equal(got, []string{"exited with status 0 before it returned"}) {
		t.Errorf("got %q", got)
	}
	out, err := v.run(t.Context(),
		"import os\ndef run():\n  fds = []\n  for fd in range(256):\n    try: os.fstat(fd)\n    except OSError: continue\n    fds.append(fd)\n  return fds")
	if err != nil || string(out) != "[0, 1, 2, 3]" {
		t.Errorf("a candidate has descriptors %s, %v; want its own and the one for its result", out, err)
	}
}

// TestCancel ends a candidate that runs, and nothing else.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"nothing", "namespaces"} {
		r := without(t, hostileConfig, families[family])
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := r.Run(ctx, "import time\ndef run(): time.sleep(999)", "run"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v", family, err)
		}
		if out, err := r.Run(t.Context(), "def run(): return 1", "run"); err != nil || string(out) != "1" {
			t.Errorf("%s: the next candidate got %s, %v", family, out, err)
		}
	}
}
