package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/tree"
)

// repairs are changes of the folder pair: the first two are right together.
var repairs = []string{
	"### codes/encode.py\n<<<<<<< SEARCH\n        code += str(n % 8)\n=======\n        code = str(n % 8) + code\n>>>>>>> REPLACE\n",
	"### codes/decode.py\n<<<<<<< SEARCH\n    for digit in reversed(code):\n=======\n    for digit in code:\n>>>>>>> REPLACE\n",
	"### codes/decode.py\n<<<<<<< SEARCH\n    return n\n=======\n    return nothing\n>>>>>>> REPLACE\n### codes/new.py\n```\nx = 1\n```\n",
}

// A program of several files is evaluated as a folder, and files of it change together.
func TestSeveralFiles(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	pair := loaded(t, "testdata/pair", bare)
	of, ok := task.As[*tree.Task](pair)
	if !ok || !strings.HasPrefix(pair.Name(), "pair-") {
		t.Fatalf("%v is no tree", pair)
	}
	score := func(program string) eval.Result {
		r, err := pair.Evaluate(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := score(pair.Initial()); !r.Valid || r.Score != 2 ||
		r.Artifacts["files"] != "codes/__init__.py codes/decode.py codes/encode.py main.py" {
		t.Errorf("the initial program: %+v", r)
	}
	both, _, err := of.ParseReply(task.Reply{Text: repairs[0] + repairs[1], Parent: pair.Initial()})
	if err != nil {
		t.Fatal(err)
	}
	if r := score(both); r.Score != 8 {
		t.Errorf("both repairs: %+v", r)
	}
	broken, _, err := of.ParseReply(task.Reply{Text: repairs[2], Parent: both})
	if err != nil {
		t.Fatal(err)
	}
	if r := score(broken); r.Valid || !strings.Contains(r.Reason, "NameError") {
		t.Errorf("a broken program: %+v", r)
	}
	if r := score("base other\n"); r.Valid || !strings.Contains(r.Reason, "base") {
		t.Errorf("a program of another base: %+v", r)
	}
	if _, err := pair.TuneEvaluator(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an evaluator for a tuner: %v", err)
	}
	prompt := pair.Prompt(task.Request{Parents: []eval.Candidate{{Program: pair.Initial(), Result: score(pair.Initial())}}})
	if text := prompt[len(prompt)-1].Content; !strings.Contains(text, "codes/encode.py:") ||
		!strings.Contains(text, "def write(n):") {
		t.Errorf("the prompt is\n%s", text)
	}
}

// A search finds the repair that takes two files.
func TestEvolvesSeveralFiles(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		reply := llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK}}}
		for i, r := range repairs {
			reply.Text += strings.Repeat(r, int(req.Seed>>i&1))
		}
		return reply, nil
	})
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: loaded(t, "testdata/pair", bare), LLM: model, N: 4, Seed: 40})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 8}})
	if err != nil || r.Best.Result.Score != 8 || strings.Count(r.Best.Program, "\n-- codes/") != 2 {
		t.Errorf("%v: the best is %+v", err, r.Best)
	}
}

// An evaluator of one's own is given the files.
func TestEvaluatorOfSeveralFiles(t *testing.T) {
	given := ""
	cfg := Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	cfg.Evaluator = func(_ context.Context, e Evaluation) (eval.Evaluator, error) {
		if !e.Files {
			t.Errorf("it is not said that programs are several files: %+v", e)
		}
		return eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			given = program
			return eval.Result{Valid: true}, nil
		}), nil
	}
	own, err := Load(t.Context(), write(t, "evaluator.py", "", "initial_program/a.py", "a", "initial_program/sub/b.txt",
		"b\n"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Evaluate(t.Context(), own.Initial()); err != nil || given != `{"a.py":"a\n","sub/b.txt":"b\n"}` {
		t.Errorf("it is given %s, %v", given, err)
	}
}

// A file that is gone from the initial program's folder is no program's fault: the evaluation fails, and the program is
// not invalid.
func TestFileOfTheInitialProgramIsGone(t *testing.T) {
	cfg := Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	cfg.Evaluator = func(context.Context, Evaluation) (eval.Evaluator, error) {
		return eval.Func(func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil }), nil
	}
	const unchangeable = "initial_program/git~1" // which no program may change, so it is read each time
	dir := write(t, "evaluator.py", "", "initial_program/a.py", "a\n", unchangeable, "b\n")
	own, err := Load(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := own.Evaluate(t.Context(), own.Initial()); err != nil || !r.Valid {
		t.Errorf("while it is there: %+v, %v", r, err)
	}
	if err := os.Remove(filepath.Join(dir, unchangeable)); err != nil {
		t.Fatal(err)
	}
	if r, err := own.Evaluate(t.Context(), own.Initial()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("when it is gone: %+v, %v", r, err)
	}
}

// A file is the initial program where there is one, as before, and a folder that cannot be one is refused.
func TestInitialFolders(t *testing.T) {
	f, err := Read(write(t, "evaluator.py", "", "initial_program.py", "x = 1\n", "initial_program/a.py", "a\n"), Config{})
	if err != nil || f.Tree != nil || f.Spec.Initial != "x = 1\n" {
		t.Errorf("a file beside a folder: %+v, %v", f, err)
	}
	f, err = Read(write(t, "evaluator.py", "", "initial_program.py", "x = 1\n", "src/a.py", "a\n"), Config{Initial: "src"})
	if err != nil || f.Tree == nil || filepath.Base(f.Tree.Base) != "src" {
		t.Errorf("a folder that is named: %+v, %v", f, err)
	}
	linked := write(t, "evaluator.py", "", "initial_program/a.py", "a\n")
	outside := write(t, "evaluator.py", "", "elsewhere/a.py", "a\n")
	if err := errors.Join(os.Symlink("a.py", filepath.Join(linked, "initial_program", "link")),
		os.Rename(filepath.Join(outside, "elsewhere"), outside+"-moved"),
		os.Symlink(outside+"-moved", filepath.Join(outside, "initial_program"))); err != nil {
		t.Skip(err) // a Windows user may not
	}
	t.Cleanup(func() { os.RemoveAll(outside + "-moved") })
	for _, c := range []struct{ reason, dir, want string }{
		{"a link", linked, "is a link"},
		{"a folder elsewhere", outside, "there is no initial_program"},
		{"no text", write(t, "evaluator.py", "", "initial_program/a.pyc", "\xff\x00"), "is no text"},
		{"nothing", write(t, "evaluator.py", "", "initial_program/a.py", ""), "has no text"},
		{"too much", write(t, "evaluator.py", "", "initial_program/a.py", strings.Repeat("x", maxProgram+1)),
			"has more than 1048576 bytes"},
	} {
		if _, err := Read(c.dir, Config{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
}

// Fingerprints of folders are those of earlier versions, which journals hold.
func TestFingerprintsStay(t *testing.T) {
	for dir, want := range map[string]string{"bins": "e4145e26a8d17246", "tour": "c5ee2b3cc4845516",
		"regress": "c5d562482d735133", "mixture": "bc9e7ac5e971812e"} {
		f, err := Read("testdata/"+dir, Config{})
		if err != nil || fmt.Sprint(f.Fingerprint) != want {
			t.Errorf("%s: %+v, %v; want %s", dir, f, err, want)
		}
	}
}
