package python

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// writing tells what can be written to, and what is left there of an evaluation before.
const writing = `
import os, sys, json
def evaluate(path):
    said = {}
    for name in ("/tmp/mine", "beside", os.path.join(os.path.dirname(__file__), "sub", "under"), "evaluator.py",
                 os.path.join(os.environ["TMPDIR"], "x"), OUTSIDE):
        said[name] = "old" if os.path.exists(name) and name != "evaluator.py" else ""
        try:
            os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
            with open(name, "w") as f: f.write("1")
            said[name] += "w"
        except OSError as e: said[name] += "no"
    return {"combined_score": 1, "said": " ".join(said.values())}
`

// TestWritable has evaluations write to /tmp, to the evaluator's folder and below it, which each finds as the first did,
// and to a folder that is let in, where what they write stays.
func TestWritable(t *testing.T) {
	t.Parallel()
	outside, err := os.MkdirTemp("/var/tmp", "evoalloc-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(outside)
	for _, tt := range []struct {
		reason string
		cfg    Config
		less   []isolation.Mechanism
		first  string
		second string
	}{
		{"all but what is outside", Config{}, nil, "w w w w w no", "w w w w w no"},
		{"a folder is let in", Config{Writable: []string{outside}}, nil, "w w w w w w", "w w w w w oldw"},
		{"without mounts there is the temporary folder", Config{}, families["mounts"], "no no no no w oldno", "no no no no w oldno"},
		{"and what is let in", Config{Writable: []string{outside}}, families["mounts"], "no no no no w oldw", "no no no no w oldw"},
	} {
		text := strings.ReplaceAll(writing, "OUTSIDE", "'"+filepath.Join(outside, "kept")+"'")
		dir := folder(t, text)
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, dir)
		tt.cfg.Workers = 1
		e := evaluatorWithout(t, dir, tt.cfg, tt.less)
		for i, want := range []string{tt.first, tt.second} {
			res, err := e.Evaluate(t.Context(), "")
			if err != nil || !res.Valid || res.Artifacts["said"] != want {
				t.Errorf("%s, evaluation %d: %q, want %q: %s %v", tt.reason, i, res.Artifacts["said"], want, res.Reason, err)
			}
		}
		if after := snapshot(t, dir); after != before {
			t.Errorf("%s: the folder was\n%s\nand is\n%s", tt.reason, before, after)
		}
		if _, err := os.Stat("/tmp/mine"); err == nil {
			t.Errorf("%s: /tmp/mine is there", tt.reason)
		}
	}
}

// TestImports finds what an evaluator imports where Python does, and what is let in besides.
func TestImports(t *testing.T) {
	t.Parallel()
	lib := t.TempDir()
	dir := folder(t, "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'src'))\n"+
		"from pkg.core import x\nimport beside\ndef evaluate(path):\n    import own\n    return {'combined_score': x + beside.y + own.z}\n")
	for name, text := range map[string]string{
		filepath.Join(dir, "src", "pkg", "__init__.py"): "", filepath.Join(dir, "src", "pkg", "core.py"): "x = 1",
		filepath.Join(dir, "own.py"): "z = 4", filepath.Join(lib, "beside.py"): "y = 2",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := newTestEvaluator(t, dir, EvaluatorConfig{Config: Config{With: []string{lib}}})
	if res, err := e.Evaluate(t.Context(), ""); err != nil || res.Score != 7 {
		t.Errorf("got %+v, %v", res, err)
	}
	_, err := NewEvaluator(t.Context(), dir, EvaluatorConfig{Config: Config{Logger: quiet}})
	if err == nil || !strings.Contains(err.Error(), "No module named 'beside'") || !strings.Contains(err.Error(), "--with") {
		t.Errorf("without the folder: %v", err)
	}
}

// TestRules has errors that come of containment name what lifts it, and others left as they are.
func TestRules(t *testing.T) {
	t.Parallel()
	cfg := hostileConfig
	cfg.Hide = []string{"/etc/hostname"}
	run := "import os, errno\ndef run():\n  "
	for _, v := range []victim{without(t, cfg, nil), evaluatorWithout(t, folder(t, inProcess), cfg, nil),
		evaluatorWithout(t, folder(t, inProcess), cfg, families["namespaces"])} {
		for program, want := range map[string]string{
			"os.environ['SURELY_NOT']":                               "--env SURELY_NOT",
			"{}['SURELY_NOT']":                                       "",
			"open('/usr/surely', 'w')":                               "--writable /usr",
			"os.mkdir('/var/lib/surely')":                            "--writable /var/lib",
			"open('/surely/not/there')":                              "",
			"open('/dev/kvm')":                                       "--device /dev/kvm",
			"open('/etc/hostname').read(0); open('/etc/hostname/x')": "",
			"raise RuntimeError('No CUDA GPUs are available')":       "--device nvidia",
			"bytearray(1 << 33)":                                     "evaluator.memory_limit_mb",
			"[open('x', 'w') for _ in range(300)] if False else [os.open('.', 0) for _ in range(300)]": "a process may have 256 files open",
			"import socket; socket.create_connection(('127.0.0.1', 1))":                                "no network",
			"f = open('x', 'wb'); [f.write(b'x' * (1 << 20)) for _ in range(40)]":                      "a file may have 32 MiB",
			"try: os.environ['SURELY_NOT']\n  except KeyError: raise ValueError('of another')":         "--env SURELY_NOT",
			"raise ValueError('no')": "",
		} {
			_, err := v.run(t.Context(), run+program)
			flags := []string{"--", "a process may", "no network", "a file may", "memory_limit_mb"}
			said := ""
			for _, f := range flags {
				if err != nil && strings.Contains(err.Error(), f) {
					said = f
				}
			}
			if err == nil || want == "" && said != "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %s: %v, want %q", v.Isolation().Has(sandbox.MountNS), program, err, want)
			}
		}
	}
}

// TestVariableThatIsNone names the variable that an evaluator got None for.
func TestVariableThatIsNone(t *testing.T) {
	t.Parallel()
	dir := folder(t, "import os\ndef evaluate(path):\n  return {'combined_score': float(os.getenv('SURELY_NOT'))}")
	e := newTestEvaluator(t, dir, EvaluatorConfig{})
	if res, err := e.Evaluate(t.Context(), ""); err != nil || !strings.Contains(res.Reason, "--env SURELY_NOT") {
		t.Errorf("got %+v, %v", res, err)
	}
	e = newTestEvaluator(t, dir, EvaluatorConfig{Config: Config{Env: []string{"SURELY_NOT=3"}}})
	if res, err := e.Evaluate(t.Context(), ""); err != nil || res.Score != 3 {
		t.Errorf("with the variable: %+v, %v", res, err)
	}
}

// TestDevices lets candidates use a device, and files that stand for those of a driver, and nothing else of /dev. There
// is no limit on address space then, and one on memory.
func TestDevices(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"nvidia0", "nvidiactl", "nvidia-caps/nvidia-cap1", "sda"} {
		file := filepath.Join(root, "dev", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cards, err := sandbox.Devices(root, []string{"nvidia"})
	if err != nil || len(cards) != 3 {
		t.Fatalf("%v, %v", cards, err)
	}
	cfg := hostileConfig
	cfg.Workers, cfg.Devices = 1, append(cards, "/dev/tty")
	look := "import os, resource\ndef run():\n  assert resource.getrlimit(resource.RLIMIT_AS)[0] == -1\n" +
		"  assert open('/dev/nvidia0').read() == 'nvidia0' and os.path.exists('/dev/nvidia-cap1')\n" +
		"  return sorted(f for f in os.listdir('/dev') if f[:2] in ('nv', 'tt', 'sd', 'nu'))"
	bomb := "import time\ndef run():\n  b = []\n  for _ in range(40):\n    b.append(bytearray(1 << 24))\n    time.sleep(0.1)\n  return 1"
	for _, v := range []victim{without(t, cfg, nil), evaluatorWithout(t, folder(t, inProcess), cfg, nil)} {
		if out, err := v.run(t.Context(), look); err != nil ||
			string(out) != `["null", "nvidia-cap1", "nvidia0", "nvidiactl", "tty"]` {
			t.Errorf("got %s, %v", out, err)
		}
		if out, err := v.run(t.Context(), bomb); err == nil || err.Error() != "used more than 256 MiB of memory" {
			t.Errorf("a bomb: %s, %v", out, err)
		}
		settled(t, v)
	}
	if _, err := NewRunner(t.Context(), Config{Devices: []string{"/dev/surely-not"}}); err == nil {
		t.Error("a device that is not there: no error")
	}
}
