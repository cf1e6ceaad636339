package export

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// noGit says that git is missing.
var noGit bool

func TestMain(m *testing.M) {
	_, err := exec.LookPath("git")
	if noGit = err != nil; noGit {
		notrun.Say("examples/internal/export", "all that makes a git repository", err, "install git")
	}
	os.Exit(m.Run())
}

// export runs the program and returns what it prints.
func export(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var b bytes.Buffer
	err := Run(t.Context(), args, &b)
	return b.String(), err
}

// A recording is a journal and the result of its last run.
type recording struct {
	journal []byte
	result  *evolve.Result
}

// circles is a recording of a run of a real task, and twice one of two.
var (
	circles = sync.OnceValues(func() (recording, error) { return record(1) })
	twice   = sync.OnceValues(func() (recording, error) { return record(2) })
)

// record makes so many runs with one journal.
func record(runs int) (out recording, err error) {
	model, err := offline.New(offline.Config{})
	if err != nil {
		return out, err
	}
	runner, err := js.New(js.Config{})
	if err != nil {
		return out, err
	}
	cp, err := geometry.CirclePacking().Task(runner, "javascript")
	if err != nil {
		return out, err
	}
	dir, err := os.MkdirTemp("", "export")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.journal")
	j, err := journal.Open(path, journal.Config{Fingerprint: journal.Fingerprint{"task": "cp"}})
	if err != nil {
		return out, err
	}
	defer j.Close()
	for range runs {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: cp, LLM: model, N: 8, Seed: 40})
		if err != nil {
			return out, err
		}
		if out.result, err = evolve.Run(context.Background(),
			evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 32}, Journal: j}); err != nil {
			return out, err
		}
	}
	out.journal, err = os.ReadFile(path)
	return out, err
}

// saved returns a journal as a file, and the result.
func saved(t *testing.T, of func() (recording, error)) (path string, result *evolve.Result) {
	t.Helper()
	r, err := of()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "run.journal")
	if err := os.WriteFile(path, r.journal, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, r.result
}

// inGit runs git in dir and returns what it prints.
func inGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A repository has the run, and stands with its best program checked out.
func TestRepository(t *testing.T) {
	if noGit {
		notrun.Skip(t)
	}
	path, result := saved(t, circles)
	if err := os.WriteFile(strings.TrimSuffix(path, "journal")+"js", []byte("the best"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(empty, "of another repository")) // as it is in a hook
	for _, into := range []string{filepath.Join(t.TempDir(), "new", "lineage"), empty} {
		said, err := export(t, "--into", into, path)
		if err != nil {
			t.Fatal(err)
		}
		os.Unsetenv("GIT_DIR")
		best, err := os.ReadFile(filepath.Join(into, "program.js"))
		if err != nil || string(best) != result.Best.Program {
			t.Errorf("the best program is not checked out: %v", err)
		}
		if out := inGit(t, into, "fsck", "--strict", "--full"); strings.Contains(out, "error") ||
			strings.Contains(out, "warning") || strings.Contains(out, "dangling") {
			t.Errorf("git fsck: %s", out)
		}
		if out := inGit(t, into, "status", "--short", "--branch"); out != "## best\n" {
			t.Errorf("git status: %s", out)
		}
		commits := strings.Count(inGit(t, into, "log", "--all", "--format=%H"), "\n")
		if want := fmt.Sprintf("%s has %d candidates, of which 0 have several parents", into,
			commits); !strings.Contains(said, want) || commits < 20 {
			t.Errorf("it says\n%s\nwant %q", said, want)
		}
		if out := inGit(t, into, "log", "-1", "--format=%s%d", "best"); !strings.HasPrefix(out,
			fmt.Sprintf("%.6g ", result.Best.Result.Score)) || strings.Contains(out, "candidates/") {
			t.Errorf("the branch best is %s", out)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(into), ".export-*")); err != nil || len(left) != 0 {
			t.Errorf("%v, %v are left beside it", left, err)
		}
		_, shown, _ := strings.Cut(said, "\n\n")
		for command := range strings.Lines(shown) {
			if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil || len(out) == 0 {
				t.Errorf("%s: %v: %s", command, err, out)
			}
		}
	}
}

func TestFiles(t *testing.T) {
	path, result := saved(t, circles)
	printed, err := export(t, "--format", "jsonl", path)
	if err != nil || !strings.HasPrefix(printed, `{"name":"start","arm":null,`) {
		t.Errorf("%v: %.100s", err, printed)
	}
	out := filepath.Join(t.TempDir(), "out")
	if said, err := export(t, "--format", "jsonl", "-o", out, path); err != nil || said != "" {
		t.Errorf("%v: %s", err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil || string(text) != printed {
		t.Errorf("%v: the file is not what is printed", err)
	}
	if score := fmt.Sprintf("%.6g", result.Best.Result.Score); !strings.Contains(printed, score[:6]) {
		t.Errorf("the best score %s is not in it", score)
	}
}

func TestSeveralRuns(t *testing.T) {
	path, _ := saved(t, twice)
	l, err := history.ReadLineage(path)
	if err != nil || l.Runs != 2 {
		t.Fatalf("%+v, %v", l, err)
	}
	var last bytes.Buffer
	got, err := export(t, "--format", "jsonl", path)
	if err = errors.Join(err, l.WriteJSONL(&last)); err != nil || got != last.String() {
		t.Errorf("%v: %.100s, want the last: %.100s", err, got, last.String())
	}
}

// Wrong flags and files are told in one line, and nothing is written.
func TestWrongInput(t *testing.T) {
	path, _ := saved(t, circles)
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.journal")
	j, err := journal.Open(empty, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	none := filepath.Join(t.TempDir(), "none")
	notBase := "is not the base of the programs"
	if _, err := exec.LookPath("git"); err != nil {
		notBase = "needs git"
	}
	for _, tt := range []struct {
		reason, want string
		args         []string
	}{
		{"no journal", "a journal is missing", []string{"--format", "jsonl"}},
		{"a form that there is not", "it is git or jsonl", []string{"--format", "svg", path}},
		{"no place", "give --into", []string{path}},
		{"a place that is taken", "is not empty, and is left as it is", []string{"--into", full, path}},
		{"a place that is a file", "mine", []string{"--into", filepath.Join(full, "mine"), path}},
		{"a place for what is no repository", "--into, --file and --base have no effect",
			[]string{"--format", "jsonl", "--into", none, path}},
		{"a folder and a file", "--file has no effect with --base",
			[]string{"--into", none, "--base", full, "--file", "x", path}},
		{"a folder of single programs", notBase, []string{"--into", none, "--base", full, path}},
		{"a file for a repository", "-o has no effect", []string{"--into", none, "-o", "x", path}},
		{"a journal that is not there", "no such file", []string{"--into", none, none}},
		{"a journal without a run", "has no run yet", []string{"--into", none, empty}},
		{"a name that git would take for its own", "--file: ", []string{"--into", none, "--file", ".git", path}},
	} {
		_, err := export(t, tt.args...)
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
		if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %s is there: %v", tt.reason, none, err)
		}
	}
	if entries, _ := os.ReadDir(full); len(entries) != 1 {
		t.Errorf("%s has %v now", full, entries)
	}
}

// The current folder, if it is empty, becomes the repository and stays the same folder.
func TestIntoCurrentFolder(t *testing.T) {
	if noGit {
		notrun.Skip(t)
	}
	path, _ := saved(t, circles)
	t.Chdir(t.TempDir())
	if _, err := export(t, "--into", ".", path); err != nil {
		t.Fatal(err)
	}
	if out := inGit(t, ".", "status", "--short", "--branch"); out != "## best\n" {
		t.Errorf("git status: %s", out)
	}
}

// Ctrl-C leaves nothing behind.
func TestCanceled(t *testing.T) {
	if noGit {
		notrun.Skip(t)
	}
	path, _ := saved(t, circles)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if err := Run(ctx, []string{"--into", filepath.Join(dir, "lineage"), path}, &bytes.Buffer{}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("%v, want %v", err, context.DeadlineExceeded)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("%v are left", entries)
	}
}

func TestHelp(t *testing.T) {
	if _, err := export(t, "--help"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("%v, want %v", err, flag.ErrHelp)
	}
}

// The file of a program has the ending of the one that an example saved.
func TestBeside(t *testing.T) {
	for _, tt := range []struct{ reason, files, want string }{
		{"a finished run", "r.json r.js r.journal", "program.js"},
		{"one that is not over", "r.partial.json r.partial.py r.journal", "program.py"},
		{"programs that are data", "r.json r.best.json r.journal", "program.json"},
		{"an earlier run's has a number", "r.journal r.1.js r.1.json", "program"},
		{"two languages tell nothing", "r.js r.py r.journal", "program"},
		{"nothing but the journal", "r.journal", "program"},
		{"no ending of a program", "r.a-b r.journal", "program"},
	} {
		dir := t.TempDir()
		for name := range strings.FieldsSeq(tt.files) {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := beside(filepath.Join(dir, "r.journal")); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
}

// Of a damaged journal what stands before the damage is exported.
func TestDamaged(t *testing.T) {
	path, _ := saved(t, circles)
	whole, err := export(t, "--format", "jsonl", path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)*3/4] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	sound, err := export(t, "--format", "jsonl", path)
	if n := strings.Count(sound, "\n"); err != nil || n == 0 || n >= strings.Count(whole, "\n") {
		t.Errorf("%d of %d candidates, %v", n, strings.Count(whole, "\n"), err)
	}
}
