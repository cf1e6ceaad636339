package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

const results = "../analyze/testdata/results"

// oneRun makes the journal of a small run.
func oneRun(t *testing.T, path string) {
	t.Helper()
	tk, err := task.New(task.Spec{Name: "length", System: "Write more.", Initial: "a",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "```\n" + strings.Repeat("b", int(req.Seed%9)) + "\n```",
			Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: model, N: 3})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 2}, Journal: j})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
}

// build returns what a page of the paths would show.
func build(t *testing.T, paths ...string) *builder {
	t.Helper()
	b := &builder{seen: map[string]bool{}}
	for _, path := range paths {
		if err := b.add(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// A folder of a sweep is a study and its runs. A file that is none of both is named, and does not keep the rest from
// being shown.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(results)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"other.json": "{}", "other.csv": "a,b\n1,2\n", "broken.journal": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := build(t, dir)
	if len(b.page.Studies) != 1 || len(b.page.Runs) < 20 {
		t.Errorf("%d studies and %d runs", len(b.page.Studies), len(b.page.Runs))
	}
	words := strings.Join(b.words, "\n")
	for _, want := range []string{"other.json", "broken.journal"} {
		if !strings.Contains(words, want) {
			t.Errorf("nothing is said of %s:\n%s", want, words)
		}
	}
	if strings.Contains(words, "other.csv") {
		t.Errorf("a table of something else is named:\n%s", words)
	}
}

// What is named twice is shown once: its runs, and what they were made to compare.
func TestFolderTwice(t *testing.T) {
	once := build(t, results)
	b := build(t, results, results+"/../"+filepath.Base(results))
	if len(once.page.Studies) == 0 || len(b.page.Studies) != len(once.page.Studies) ||
		len(b.page.Runs) != len(once.page.Runs) {
		t.Errorf("%d studies of %d runs, want %d of %d", len(b.page.Studies), len(b.page.Runs), len(once.page.Studies),
			len(once.page.Runs))
	}
}

// Of a run that has both, the journal is shown, which has the programs.
func TestJournalBeforeResult(t *testing.T) {
	dir := t.TempDir()
	oneRun(t, filepath.Join(dir, "run.journal"))
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := build(t, dir)
	var page struct {
		Runs []struct{ Programs map[string]any }
	}
	runtest.DecodePage(t, func(w io.Writer) error { return view.Report(w, b.page) }, &page)
	if len(page.Runs) != 1 || len(page.Runs[0].Programs) == 0 || len(b.words) != 0 {
		t.Errorf("%d runs, said %q", len(page.Runs), b.words)
	}
}

// The file is the same each time.
func TestSameFile(t *testing.T) {
	dir := t.TempDir()
	oneRun(t, filepath.Join(dir, "run.journal"))
	var files [2][]byte
	for i := range files {
		out := filepath.Join(dir, "out", "report.html")
		if err := Run(t.Context(), []string{"-o", out, filepath.Join(dir, "run.journal"), results}); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) || len(files[0]) < 10_000 {
		t.Errorf("%d and %d bytes, which differ or are too few", len(files[0]), len(files[1]))
	}
}

// Wrong input is one line that names the file, with exit status 2.
func TestWrongInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		reason, want string
		args         []string
	}{
		{"nothing to show is given", "need the paths", nil},
		{"a path that is not there", "none.json", []string{filepath.Join(dir, "none.json")}},
		{"a file of another kind", "x.txt", []string{write("x.txt", "")}},
		{"a result that is none", "x.json", []string{write("x.json", "{}")}},
		{"an empty journal", "empty.journal", []string{write("empty.journal", "")}},
		{"a journal that is none", "bad.journal", []string{write("bad.journal", "{}\n{}\n")}},
		{"a CSV file of something else", "x.csv", []string{write("x.csv", "a,b\n")}},
		{"a folder with nothing in it", "nothing to show", []string{t.TempDir()}},
		{"a flag that is not there", "flag", []string{"--nope"}},
	} {
		err := Run(t.Context(), append([]string{"-o", filepath.Join(dir, "out.html")}, tt.args...))
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want a usage error with %q", tt.reason, err, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out.html")); err == nil {
		t.Error("a file was written although there was nothing to show")
	}
}

// A result that is shown alone has no programs: the page names the journal that has them, and the terminal does if
// it is there.
func TestResultNamesItsJournal(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join(results, "cp/offline/greedy_C64_T8_N8_seed1.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"alone.json": data, "run.json": data, "run.journal": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, said := range map[string]int{"alone": 0, "run": 1} {
		b := build(t, filepath.Join(dir, name+".json"))
		var page struct{ Runs []struct{ Texts string } }
		runtest.DecodePage(t, func(w io.Writer) error { return view.Report(w, b.page) }, &page)
		if got := page.Runs[0].Texts; got != name+".journal" || len(b.words) != said {
			t.Errorf("%s: the page names %q, and it is said %q", name, got, b.words)
		}
	}
}

// A result is shown where its journal cannot be read, and of more runs than a page has room for the rest is told.
func TestWhatIsLeftOut(t *testing.T) {
	paths, err := filepath.Glob(results + "/cp/offline/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d results, %v", len(paths), err)
	}
	result, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"r.json": string(result), "r.journal": "no journal\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if b := build(t, dir); len(b.page.Runs) != 1 || !strings.Contains(strings.Join(b.words, "\n"), "not shown: ") {
		t.Errorf("%d runs, said: %q", len(b.page.Runs), b.words)
	}
	dir = t.TempDir()
	for name, text := range map[string]string{"r.json": "{", "r.partial.json": string(result)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if b := build(t, dir); len(b.page.Runs) != 1 || b.page.Runs[0].Name != "r.partial" {
		t.Errorf("%d runs beside a damaged result, said: %q", len(b.page.Runs), b.words)
	}
	paths = nil
	for i := range mostTabs + 2 {
		paths = append(paths, filepath.Join(t.TempDir(), fmt.Sprintf("%d.json", i)))
		if err := os.WriteFile(paths[i], result, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	printed := runtest.Output(t, func() {
		if err := Run(t.Context(), append(paths, "-o", filepath.Join(dir, "all.html"))); err != nil {
			t.Fatal(err)
		}
	})
	if want := "2 runs not shown"; !strings.Contains(printed, want) {
		t.Errorf("printed %q, want %q in it", printed, want)
	}
}

// One run is one tab, however its path is written.
func TestOnePathInTwoSpellings(t *testing.T) {
	b := builder{seen: map[string]bool{}}
	if !b.room("results/run.journal") || b.room("./results/run.json") || b.room("results/../results/run.partial.json") {
		t.Errorf("a run is shown twice: %v", b.seen)
	}
}
