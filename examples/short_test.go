// Package examples_test runs the examples that are programs of one screen, as a user who has copied them would.
package examples_test

import (
	"context"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// prints are the short examples but bandit, and what they print.
var prints = map[string]string{
	"greedy":      `(?s)generation \d+: .*best +0\.[5-9].*calls     512 answered.*function pack`,
	"newtask":     `error from \d.*after 960 calls`,
	"newpolicy":   `(?s)arm 0: .*arm 3: .*best 0\.`,
	"newoperator": `(?s)rewrite +\d+ children, .*warned +\d+ children.*after 400 calls`,
	"newsearch":   `best 0\.\d+ after 200 calls`,
	"layers":      `(?s)the best line is off by 0\.\d+, and with a router over [2-4] lines by 0\.\d+.*solve`,
	"resume":      `(?s)killed: .*after 200 calls, of which this process made (\d|\d\d|1\d\d) `,
	"gofunc":      `(?s)the best has the first function's speed times \d.*package sorting`,
	"agent":       `(?s)score 16 after 7 calls, 2 tries and 2 evaluations:.*-- decode.go --.*-- encode.go --`,
	"tree":        `(?s)score 16 after 32 calls:.*-- decode.go --.*-- encode.go --`,
	"speed":       `(?s)the best, z = .*def f`,
}

// built returns a folder with programs.
func built(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "./"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// The normal run has a task, a search and a run that is killed, and leaves out what takes long or times programs.
func TestPrograms(t *testing.T) {
	programs := notrun.FewOf(prints, "newtask", "newsearch", "resume")
	dir := built(t, slices.Collect(maps.Keys(programs))...)
	for name, want := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if name == "tree" || name == "agent" {
				folder = ".." // their base is in the repository
			}
			if out := ran(t, filepath.Join(dir, name), folder); !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("it prints %s\nwant %s", out, want)
			}
		})
	}
}

// ran runs a program in a folder and returns what it prints.
func ran(t *testing.T, program, folder string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// The quick start goes on after a kill, and tells of its result when it is over.
func TestBanditGoesOn(t *testing.T) {
	notrun.Long(t, "the program resume in TestPrograms")
	program, folder := filepath.Join(built(t, "bandit"), "bandit"), t.TempDir()
	first := exec.Command(program)
	first.Dir = folder
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(folder, "results/bandit/cp/offline/example.journal")
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(journal); err == nil && info.Size() > 100_000 {
			break
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	whole := ran(t, program, folder)
	again := ran(t, program, folder)
	const end = `(?s)calls     2048 answered.*every call is in results/bandit/cp/offline/example.json`
	if !regexp.MustCompile(end).MatchString(whole) || !strings.Contains(again, "holds a finished run") ||
		!strings.HasSuffix(again, whole[strings.Index(whole, "\nbest "):]) {
		t.Errorf("it goes on as\n%s\nand says then\n%s", whole, again)
	}
}

// The programs are short, and import what their reader can import.
func TestProgramsAreShort(t *testing.T) {
	folders, err := filepath.Glob("*/main.go")
	if err != nil || len(folders) != len(prints)+2 {
		t.Errorf("programs %v, %v: want those of the test, bandit and the tool", folders, err)
	}
	for _, name := range append(slices.Collect(maps.Keys(prints)), "bandit") {
		path := filepath.Join(name, "main.go")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > 80 {
			t.Errorf("%s has %d lines, want at most 80", path, n)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if strings.Contains(spec.Path.Value, "/internal/") || strings.Contains(spec.Path.Value, "/examples/") {
				t.Errorf("%s imports %s", path, spec.Path.Value)
			}
		}
	}
}
