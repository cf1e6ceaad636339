package python

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

func newTestEvaluator(t testing.TB, dir string, cfg EvaluatorConfig) *Evaluator {
	t.Helper()
	needPython(t)
	cfg.Logger, cfg.Interpreter = quiet, interpreterPath
	e, err := NewEvaluator(t.Context(), dir, cfg)
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

// TestFolders runs a folder of each kind as it is.
func TestFolders(t *testing.T) {
	for _, c := range []struct {
		folder, program, why string
		want                 eval.Result
	}{
		{"dict", "", "the program it starts from", eval.Result{Score: 0.5, Valid: true,
			Metrics:   map[string]float64{"value": 1, "combined_score": 0.5},
			Artifacts: map[string]string{"passed": "true", "unit": "m"}}},
		{"dict", "def run(): return 1/0", "an error entry is the reason, whatever the score beside it", eval.Result{
			Reason: "division by zero", Metrics: map[string]float64{"combined_score": 0},
			Artifacts: map[string]string{"error": "division by zero", "traceback": ""}}},
		{"result", "", "a process of its own, numpy scalars, bytes", eval.Result{Score: 1.5, Valid: true,
			Metrics:   map[string]float64{"combined_score": 1.5, "size": 2},
			Artifacts: map[string]string{"log": "running\n", "raw": "I2\n.", "values": "[1.0, 2.0]"}}},
		{"result", "import os\nos._exit(7)", "artifacts of its own are not the reason", eval.Result{Valid: true,
			Metrics:   map[string]float64{"combined_score": 0},
			Artifacts: map[string]string{"stderr": "", "error": "exit status 7"}}},
		{"cascade", "", "all three stages", eval.Result{Score: 0.25, Valid: true,
			Metrics:   map[string]float64{"runs": 1, "positive": 1, "combined_score": 0.25},
			Artifacts: map[string]string{"stdout": "stage 1\nstage 2\nstage 3\n"}}},
		{"cascade", "VALUE = -1", "the second threshold is not reached", eval.Result{Score: 0, Valid: true,
			Metrics:   map[string]float64{"runs": 1, "positive": -1},
			Artifacts: map[string]string{"stdout": "stage 1\nstage 2\n"}}},
		{"cascade", "x = 1", "the first stage raises", eval.Result{Reason: "KeyError: 'VALUE' (evaluator.py, line 6)",
			Artifacts: map[string]string{"stdout": "stage 1\n", "traceback": ""}}},
		{"mean", "", "of what is finite and no bool", eval.Result{Score: (1.0/7 + 1) / 2, Valid: true,
			Metrics:   map[string]float64{"short": 1.0 / 7, "lines": 1},
			Artifacts: map[string]string{"good": "true", "note": "text"}}},
	} {
		t.Run(c.folder+"/"+c.why, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", "folders", c.folder)
			e := newTestEvaluator(t, dir, EvaluatorConfig{})
			program := c.program
			if program == "" {
				text, err := os.ReadFile(filepath.Join(dir, "initial_program.py"))
				if err != nil {
					t.Fatal(err)
				}
				program = string(text)
			}
			got, err := e.Evaluate(t.Context(), program)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, c.want)
		})
	}
}

// same compares results; a wanted artifact that is empty must only be there.
func same(t *testing.T, got, want eval.Result) {
	t.Helper()
	if got.Score != want.Score || got.Valid != want.Valid || got.Reason != want.Reason ||
		len(got.Metrics) != len(want.Metrics) || len(got.Artifacts) != len(want.Artifacts) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for k, v := range want.Metrics {
		if x, ok := got.Metrics[k]; !ok || x != v {
			t.Errorf("metric %s is %v, want %v", k, x, v)
		}
	}
	for k, v := range want.Artifacts {
		if x, ok := got.Artifacts[k]; !ok || v != "" && x != v {
			t.Errorf("artifact %s is %q, want %q", k, x, v)
		}
	}
}

// folder makes a folder with this evaluator.
func folder(t testing.TB, evaluator string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "evaluator.py"), []byte(evaluator), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEvaluatorReturns(t *testing.T) {
	e := newTestEvaluator(t, folder(t, `
async def later(): return {'x': 3}
class R: metrics = {'x': 4}
def evaluate(path): return eval(open(path).read())
`), EvaluatorConfig{})
	for _, c := range []struct {
		name, body, reason string
		score              float64
	}{
		{"an empty dict", "{}", "the evaluator returned no finite number", 0},
		{"NaN", "{'combined_score': float('nan'), 'x': 1}", "combined_score is nan, not a finite number", 0},
		{"infinity", "{'combined_score': -float('inf')}", "combined_score is -inf, not a finite number", 0},
		{"a huge integer", "{'combined_score': 10 ** 400}", "combined_score is inf, not a finite number", 0},
		{"a word for a score", "{'combined_score': 'high', 'x': 1}", "combined_score is high, not a finite number", 0},
		{"a bool for a score", "{'combined_score': True}", "combined_score is true, not a finite number", 0},
		{"nothing", "None", "evaluate returned a value of type NoneType, not a dict", 0},
		{"a number", "0.5", "evaluate returned a value of type float, not a dict", 0},
		{"an error without a score", "{'error': 'no'}", "no", 0},
		{"an error that is none", "{'error': None, 'x': 2}", "", 2},
		{"an empty error", "{'error': '', 'x': 2}", "", 2},
		{"a numeric error", "{'error': 0.0, 'x': 2}", "", 1},
		{"a mean without the infinite", "{'x': 2, 'y': float('inf')}", "", 2},
		{"a decimal", "{'combined_score': __import__('decimal').Decimal('0.5')}", "", 0.5},
		{"an array of one", "{'combined_score': __import__('numpy').array(0.5)}", "", 0.5},
		{"a coroutine", "later()", "", 3},
		{"an object", "R()", "", 4},
		{"a list for a score", "{'combined_score': [1]}", "combined_score is [1], not a finite number", 0},
		{"10 MB for a score", "{'combined_score': [[[1, 2, 3]] * 1000] * 1000, 'x': 1}",
			"combined_score is " + "[[" + strings.Repeat("[1, 2, 3], ", 9)[:98] + ", not a finite number", 0},
		{"10 MB beside a score", "{'combined_score': 5, 'x': [[[1, 2, 3]] * 1000] * 1000}", "", 5},
		{"what contains itself", "(lambda x: x.append(x) or {'combined_score': x})([])",
			"combined_score is [[...]], not a finite number", 0},
		{"what contains itself beside a score", "(lambda x: x.append(x) or {'combined_score': 6, 'x': x})([])", "", 6},
		{"metrics that contain themselves", "(lambda d: d.update(x=d) or d)({'combined_score': 7})", "", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := e.Evaluate(t.Context(), c.body)
			if err != nil {
				t.Fatal(err)
			}
			if got.Reason != c.reason || got.Score != c.score || got.Valid != (c.reason == "") {
				t.Errorf("got %+.300v", got)
			}
		})
	}
}

func TestCascade(t *testing.T) {
	stages := `
import time
def evaluate(p): return {"combined_score": 9}
def evaluate_stage1(p): return {"combined_score": 0.6, "a": 1}
def evaluate_stage2(p): return {"combined_score": 0.7, "b": 2}
def evaluate_stage3(p): return {"combined_score": 0.8}
`
	for _, c := range []struct {
		name  string
		cfg   EvaluatorConfig
		score float64
	}{
		{"thresholds by default", EvaluatorConfig{}, 0.7},
		{"all reached, the last exactly", EvaluatorConfig{Thresholds: []float64{0.5, 0.7}}, 0.8},
		{"the first not reached", EvaluatorConfig{Thresholds: []float64{0.61, 0}}, 0.6},
		{"no second threshold", EvaluatorConfig{Thresholds: []float64{0.5}}, 0.7},
		{"no threshold", EvaluatorConfig{Thresholds: []float64{}}, 0.6},
		{"turned off", EvaluatorConfig{NoCascade: true}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newTestEvaluator(t, folder(t, stages), c.cfg)
			got, err := e.Evaluate(t.Context(), "")
			if err != nil || got.Score != c.score || !got.Valid {
				t.Errorf("got %+v, %v, want score %v", got, err, c.score)
			}
		})
	}
}

// TestStageTime gives each stage of a cascade the time limit, and a stage that needs more none.
func TestStageTime(t *testing.T) {
	t.Parallel()
	stages := `
import time
def evaluate_stage1(p):
    time.sleep(float(open(p).read().split()[0]))
    return {"combined_score": 1}
def evaluate_stage2(p):
    time.sleep(float(open(p).read().split()[1]))
    return {"combined_score": 2}
`
	var cfg EvaluatorConfig
	cfg.Timeout, cfg.Workers = 5*time.Second, 2
	e := newTestEvaluator(t, folder(t, stages), cfg)
	if got, err := e.Evaluate(t.Context(), "2.6 2.6"); err != nil || got.Score != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := e.Evaluate(t.Context(), "0 99"); err != nil || got.Reason != "stage 2 ran longer than 5s" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestEvaluatorSurroundings looks at what an evaluator finds around it.
func TestEvaluatorSurroundings(t *testing.T) {
	e := newTestEvaluator(t, folder(t, `
import os, sys, tempfile, multiprocessing
def evaluate(path):
    from openevolve.evaluation_result import EvaluationResult
    with tempfile.TemporaryDirectory() as d: pass
    q = multiprocessing.get_context("fork").Queue()
    p = multiprocessing.get_context("fork").Process(target=q.put, args=(7,))
    p.start()
    assert q.get() == 7
    p.join()
    return EvaluationResult({"combined_score": 1}, {"suffix": os.path.splitext(path)[1], "text": open(path).read(),
        "path": sys.path[0], "cwd": os.getcwd(), "file": __file__, "state": str(getattr(os, "mark", 0))})
import os
os.mark = getattr(os, "mark", 0) + 1
`), EvaluatorConfig{Suffix: ".rs"})
	for range 2 {
		got, err := e.Evaluate(t.Context(), "fn main() {}\r\n")
		if err != nil || !got.Valid {
			t.Fatalf("got %+v, %v", got, err)
		}
		dir := e.pool.kind.orders.Folder
		for k, want := range map[string]string{"suffix": ".rs", "text": "fn main() {}\n", "path": dir, "cwd": dir,
			"file": dir + "/evaluator.py", "state": "1"} {
			if got.Artifacts[k] != want {
				t.Errorf("%s is %q, want %q", k, got.Artifacts[k], want)
			}
		}
	}
}

func TestNewEvaluatorErrors(t *testing.T) {
	needPython(t)
	for _, c := range []struct {
		name, dir, want string
	}{
		{"no folder", "nonexistent", "no such file"},
		{"no evaluator", t.TempDir(), "no such file"},
		{"no function", folder(t, "x = 1"), "defines neither evaluate nor evaluate_stage1"},
		{"syntax", folder(t, "def evaluate(:"), "SyntaxError"},
		{"raises", folder(t, "1/0\ndef evaluate(p): pass"), "ZeroDivisionError"},
		{"lacks a module", folder(t, "import surely_not_there\ndef evaluate(p): pass"),
			`No module named 'surely_not_there' .*; .*python.* finds none: install it there, or .* --with FOLDER`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := NewEvaluator(t.Context(), c.dir, EvaluatorConfig{Config: Config{Logger: quiet}})
			if err == nil {
				t.Fatal(e.Close())
			}
			if !regexp.MustCompile(c.want).MatchString(err.Error()) || !strings.HasPrefix(err.Error(), "python: ") {
				t.Errorf("got %q, want %q", err, c.want)
			}
		})
	}
}

// inCandidate are wrong in the candidate's own file.
var inCandidate = []hostile{
	{"syntax error", "def run(:", `^SyntaxError: .*program\.py, line \d+\)`, false},
	{"null byte", "x = '\x00'", "null byte", false},
	{"no entry point", "x = 1", `^KeyError: 'run' \(evaluator\.py, line 4\)$`, false},
	{"entry point is no function", "run = 1", `^TypeError: 'int' object is not callable \(evaluator\.py, line 4\)$`,
		false},
}

// TestHostileInEvaluator runs what is hostile where an evaluator runs it in its own process, which may
// have others.
func TestHostileInEvaluator(t *testing.T) {
	t.Parallel()
	// These are about a Runner, which has no other processes, or are above in another form.
	skip := []string{"fork bomb", "fork bomb by the shell", "fork bomb by the C library", "no entry point",
		"entry point is no function",
		"null byte", "syntax error"}
	set := slices.DeleteFunc(slices.Clone(crashes), func(h hostile) bool { return slices.Contains(skip, h.name) })
	for i, h := range set {
		set[i].reason = strings.ReplaceAll(h.reason, "line 1", `line \d+`)
	}
	cfg := hostileConfig
	cfg.Processes = 32
	evaluateAll(t, evaluatorWithout(t, folder(t, inProcess), cfg, nil), slices.Concat(set, inCandidate))
	if !notrun.Soak {
		return // TestHostileProcesses has what must be stopped
	}
	cfg.Timeout, cfg.Workers = shortTime, 4
	evaluateAll(t, evaluatorWithout(t, folder(t, inProcess), cfg, nil), loops)
}

// TestHostileProcesses runs what makes processes where an evaluator runs it in its own process, without
// any family of mechanisms.
func TestHostileProcesses(t *testing.T) {
	long := hostileConfig
	long.Processes = 32
	short := long
	short.Workers, short.Timeout = 3, shortTime
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		set := processes[:1]
		switch family {
		case "landlock":
			continue // it has no part in this
		case "nothing":
			set = slices.Concat(processes, []hostile{hotBomb})
		case "namespaces":
			set = processes
		}
		t.Run("without "+family, func(t *testing.T) {
			t.Parallel()
			e := evaluatorWithout(t, folder(t, inProcess), short, ms)
			if !e.Isolation().Has(sandbox.Processes) {
				t.Errorf("nothing limits processes: %v", e.Isolation())
				return // do not harm the machine
			}
			evaluateAll(t, e, slices.DeleteFunc(slices.Clone(set), func(h hostile) bool { return !h.short }))
			if len(set) > 1 {
				rest := slices.DeleteFunc(slices.Clone(set), func(h hostile) bool { return h.short })
				evaluateAll(t, evaluatorWithout(t, folder(t, inProcess), long, ms), rest)
			}
		})
	}
}

// TestProcessCount has a candidate make as many processes as it can, by whatever limits them.
func TestProcessCount(t *testing.T) {
	t.Parallel()
	cfg := hostileConfig
	cfg.Processes, cfg.Workers = 20, 1
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		e := evaluatorWithout(t, folder(t, inProcess), cfg, ms)
		if !e.Isolation().Has(sandbox.Processes) {
			continue // the report says so
		}
		out, err := e.run(t.Context(),
			"import os, time\ndef run():\n  made = 0\n  for _ in range(100):\n    try:\n      if os.fork() == 0: time.sleep(999)\n      made += 1\n    except OSError: pass\n  return made")
		var made int
		if err == nil {
			err = json.Unmarshal(out, &made)
		}
		if err != nil || made < cfg.Processes/2 || made > cfg.Processes {
			t.Errorf("without %s: made %d, %v; want at most %d, and most of these", family, made, err, cfg.Processes)
		}
	}
}

// hotBomb does not give up. It is for one family only, as it leaves the processors to nobody.
var hotBomb = hostile{"hot fork bomb",
	"import os\ndef run():\n  while True:\n    try: os.fork()\n    except OSError: pass", "^ran longer than 2s$", true}

// processes are programs that make processes, and end or not.
var processes = []hostile{
	{"fork bomb", "import os, time\ndef run():\n  while True:\n    try:\n      if os.fork() == 0: os.setsid()\n    except OSError: time.sleep(0.3)", "^ran longer than 2s$", true},
	{"fork bomb by the shell", "import subprocess\ndef run():\n  subprocess.run(['sh', '-c', 'f() { f | f & }; f; f'])\n  while True: pass", "^ran longer than 2s$", true},
	{"kills its interpreter", "import os, signal\ndef run():\n  for pid in (os.getppid(), -os.getppid(), -1):\n    try: os.kill(pid, signal.SIGKILL)\n    except OSError: pass\n  os._exit(7)", "^(exited with status 7|was ended by signal 9)", false},
	{"stops itself", "import os, signal\ndef run(): os.kill(os.getpid(), signal.SIGSTOP)", "^ran longer than 2s$", true},
	{"outlives its parent", "import os, time\ndef run():\n  for _ in range(5):\n    if os.fork() == 0:\n      os.setsid()\n      if os.fork() == 0: time.sleep(999)\n      os._exit(0)\n  os._exit(4)", "^exited with status 4", false},
	{"outlives its parent, deaf",
		"import os, signal, time\ndef run():\n  if os.fork() == 0:\n    os.setsid()\n    for s in (1, 2, 13, 15): signal.signal(s, signal.SIG_IGN)\n    while True: time.sleep(1)\n  os._exit(5)", "^exited with status 5", false},
	{"holds the pipes", "import os, time\ndef run():\n  if os.fork() == 0:\n    os.setsid()\n    while True: print('still here', flush=True)\n  os._exit(6)", "^exited with status 6", false},
}

// evaluateAll runs each program on e, whose evaluator is inProcess, and after it one that means no harm.
func evaluateAll(t *testing.T, e *Evaluator, set []hostile) {
	t.Helper()
	checkAll(t, set, func(ctx context.Context, program string) (eval.Result, error) {
		return e.Evaluate(ctx, inScratch+program)
	})
	settled(t, e)
}

// TestForgery has a candidate that an evaluator runs in a process of its own claim a score. It knows
// all that the evaluator's process knows, and holds its descriptors, but it is not that process.
func TestForgery(t *testing.T) {
	t.Parallel()
	const forger = `
import gc, os, sys
def run():
    frame, nonce = sys._getframe(), None
    while frame is not None:
        nonce = frame.f_locals.get("nonce", nonce)
        frame = frame.f_back
    assert nonce is not None, "this test has to know better where to look"
    for fd in range(256):
        try: os.write(fd, nonce + b'R{"score": 1e9, "reason": "", "metrics": {}, "artifacts": {}}')
        except OSError: pass
    os._exit(0)
`
	const forking = `
import os, runpy
def evaluate(path):
    pid = os.fork()
    if pid == 0:
        runpy.run_path(path)["run"]()
    _, status = os.waitpid(pid, 0)
    return {"combined_score": 0.25, "status": status}
`
	e := newTestEvaluator(t, folder(t, forking), EvaluatorConfig{})
	got, err := e.Evaluate(t.Context(), forger)
	if err != nil || got.Score != 0.25 || got.Metrics["status"] != 0 {
		t.Errorf("got %+v, %v, want the evaluator's own score", got, err)
	}
	own := newTestEvaluator(t, folder(t, inProcess), EvaluatorConfig{})
	if got, err := own.Evaluate(t.Context(), forger); err != nil || got.Score != 1e9 {
		t.Errorf("got %+v, %v: a candidate in the evaluator's own process can lie, and docs/security.md says so", got, err)
	}
}

// TestDigits sends numbers through Python that only all their digits tell apart.
func TestDigits(t *testing.T) {
	r := newTestRunner(t, Config{Imports: []string{"numpy"}})
	out, err := r.Run(t.Context(), `
import numpy as np
def run():
    xs = [0.1, 1/3, 5e-324, 1.7976931348623157e308, -0.0, 2**53 - 1.0, np.nextafter(1, 2)]
    return (xs, np.array(xs), [np.float64(x) for x in xs], np.float32(0.1), np.longdouble(0.1), np.int64(2**62 + 1), True, np.bool_(False), {"a": np.arange(3)})
`, "run")
	if err != nil {
		t.Fatal(err)
	}
	third := "[0.1, 0.3333333333333333, 5e-324, 1.7976931348623157e+308, -0.0, 9007199254740991.0, 1.0000000000000002]"
	want := "[" + strings.Repeat(third+", ", 3) +
		`0.10000000149011612, 0.1, 4611686018427387905, true, false, {"a": [0, 1, 2]}]`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if math.Nextafter(1, 2) != 1.0000000000000002 {
		t.Error("Go reads it otherwise")
	}
}
