package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

func TestScores(t *testing.T) {
	e := without(t, Config{Args: []string{"cat", "{program}"}}, nil)
	for _, c := range []struct {
		name, printed string
		want          eval.Result
	}{
		{"a number", "0.5\n", eval.Result{Score: 0.5, Valid: true}},
		{"a number after other lines", "compiling\nrunning\n-2e3", eval.Result{Score: -2000, Valid: true}},
		{"two numbers", "0.5\n1e9\n",
			eval.Result{Reason: "printed 2 lines of JSON on standard output, and which of them is the result cannot be told"}},
		{"a score before the score", "{\"combined_score\": 1e9}\nrunning\n\n{\"combined_score\": 1}",
			eval.Result{Reason: "printed 2 lines of JSON on standard output, and which of them is the result cannot be told"}},
		{"a score over several lines", "{\"combined_score\":\n2}",
			eval.Result{Score: 2, Valid: true, Metrics: map[string]float64{"combined_score": 2}}},
		{"the combined score", `{"combined_score": 2, "x": 4}`,
			eval.Result{Score: 2, Valid: true, Metrics: map[string]float64{"combined_score": 2, "x": 4}}},
		{"the mean", `{"a": 1, "b": 2, "note": "x", "ok": true}`, eval.Result{Score: 1.5, Valid: true,
			Metrics: map[string]float64{"a": 1, "b": 2}, Artifacts: map[string]string{"note": "x", "ok": "true"}}},
		{"metrics and artifacts", `{"combined_score": 3, "metrics": {"a": 1}, "artifacts": {"log": "l", "list": [1]}, "time": 7}`, eval.Result{Score: 3, Valid: true,
			Metrics: map[string]float64{"combined_score": 3, "a": 1}, Artifacts: map[string]string{"log": "l", "list": "[1]"}}},
		{"the mean of metrics", `{"metrics": {"a": 1, "b": 5}}`,
			eval.Result{Score: 3, Valid: true, Metrics: map[string]float64{"a": 1, "b": 5}}},
		{"no error", `{"combined_score": 1, "error": null}`,
			eval.Result{Score: 1, Valid: true, Metrics: map[string]float64{"combined_score": 1}}},
		{"an error", `{"combined_score": 1, "error": "no"}`,
			eval.Result{Reason: "no", Metrics: map[string]float64{"combined_score": 1},
				Artifacts: map[string]string{"error": "no"}}},
		{"a list", `[1]`, eval.Result{Reason: "printed [1], which is neither a finite number nor an object"}},
		{"null", `null`, eval.Result{Reason: "printed null, which is neither a finite number nor an object"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := e.Evaluate(t.Context(), c.printed)
			if err != nil {
				t.Fatal(err)
			}
			if got.Score != c.want.Score || got.Valid != c.want.Valid || got.Reason != c.want.Reason ||
				len(got.Metrics) != len(c.want.Metrics) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			for k, v := range c.want.Artifacts {
				if got.Artifacts[k] != v {
					t.Errorf("artifact %s is %q, want %q", k, got.Artifacts[k], v)
				}
			}
		})
	}
}

// FuzzRead wants a result that may travel of whatever a command prints.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"1", "{}", `{"combined_score":1e308,"metrics":{"a":1e308,"b":1e308}}`,
		`{"artifacts":[],"error":{}}`, `{"metrics":{"error":"x"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		r := read(json.RawMessage(strings.TrimSpace(s))).Clean()
		if _, err := json.Marshal(r); err != nil || r.Valid == (r.Reason != "") {
			t.Errorf("read(%q) = %+v, %v", s, r, err)
		}
	})
}

// TestSurroundings looks at what a command finds around it.
func TestSurroundings(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "template.txt"), []byte("from the template"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EVOALLOC_PASSED", "on")
	c, err := newCommand(Config{
		Args: []string{"sh", "{program}", "{entry}", "{folder}"}, File: "candidate.sh", Template: dir, Logger: quiet,
		Writable: []string{cache}, Env: []string{"EVOALLOC_PASSED", "EVOALLOC_SET=1", "EVOALLOC_ABSENT"},
	}, sandbox.Mechanisms())
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{c}
	out, err := r.Run(t.Context(), `
test "$PWD" = "$2" || exit 11
test "$HOME" = "${2%work}tmp" && test -w "$HOME" || exit 12
test "$(cat template.txt)" = "from the template" || exit 13
test -s candidate.sh || exit 14
test "$EVOALLOC_PASSED$EVOALLOC_SET" = on1 || exit 15
test -z "${EVOALLOC_ABSENT+x}$EVOALLOC_SECRET" || exit 16
echo more >> template.txt || exit 17
echo cached > `+cache+`/x || exit 18
kill -9 $$ & wait $! 2>/dev/null
printf '["%s"]' "$1"
`, "entry")
	if err == nil {
		t.Fatalf("a command that killed itself printed %s", out)
	}
	if !regexp.MustCompile("signal 9").MatchString(err.Error()) {
		t.Error(err)
	}
	if out, err := r.Run(t.Context(), `printf '["%s"]' "$1"`, "entry"); err != nil || string(out) != `["entry"]` {
		t.Errorf("got %s, %v", out, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "template.txt")); err != nil || string(text) != "from the template" {
		t.Errorf("the template is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(cache, "x")); err != nil {
		t.Error(err)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
		cfg        Config
	}{
		{"no command", "Config.Args is", Config{}},
		{"no program", "need {program}", Config{Args: []string{"sh"}}},
		{"a scorer alone", "Config.Run is []: need a command", Config{Score: []string{"sh", "{program}"}}},
		{"two names for one step", "set one of them", Config{Args: []string{"sh", "{program}"},
			Run: []string{"sh", "{program}"}}},
		{"an empty step", "Config.Build is []: need a command", Config{Build: []string{}, Run: []string{"sh", "{program}"}}},
		{"the folder of no step", "{build} and {run} are the folders of earlier steps",
			Config{Run: []string{"sh", "{program}", "{build}/x"}}},
		{"its own folder", "{build} and {run} are the folders of earlier steps",
			Config{Run: []string{"sh", "{program}", "{run}/x"}}},
		{"no program in any step", "Config.Run is [\"sh\"]: need {program}",
			Config{Run: []string{"sh"}, Score: []string{"sh"}}},
		{"no such scorer", "looking for surely-not-there",
			Config{Run: []string{"sh", "{program}"}, Score: []string{"surely-not-there"}}},
		{"a cache that holds all", "keeping Config.Writable from Config.Score",
			Config{Run: []string{"sh", "{program}"}, Score: []string{"sh"}, Writable: []string{"/"}}},
		{"nothing to hide", "looking for surely-not-there",
			Config{Args: []string{"sh", "{program}"}, Hide: []string{"surely-not-there"}}},
		{"no such command", "looking for surely-not-there", Config{Args: []string{"surely-not-there", "{program}"}}},
		{"no such template", "no such file", Config{Args: []string{"sh", "{program}"}, Template: "surely-not-there"}},
		{"a file as a folder", "is not a folder", Config{Args: []string{"sh", "{program}"}, Writable: []string{"doc.go"}}},
		{"a file in a folder", "Config.File is", Config{Args: []string{"sh", "{program}"}, File: "../x"}},
		{"a negative time", "Config.Timeout is", Config{Args: []string{"sh", "{program}"}, Timeout: -1}},
		{"no such level", "Config.Isolation", Config{Args: []string{"sh", "{program}"}, Isolation: 7}},
	} {
		if _, err := NewEvaluator(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "command: ") {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
