package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// noPython is set by TestMain.
var noPython bool

// testdata is where task folders are.
const testdata = "../../task/folder/testdata/"

// evolved runs a short search on a folder and returns its report and best program.
func evolved(t *testing.T, dir, best string) (r report.Greedy, program string) {
	t.Helper()
	out := t.TempDir()
	args := "--T 3 --N 16 --offline-latency 0 --task " + testdata + dir + " --output " + out
	if err := runGreedy(t.Context(), strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out, dir, "offline", "greedy_C48_T3_N16_adaptive_seed40")
	data, err := os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path + best)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

// Folders of the four kinds, as they are.
func TestEvolvesFolders(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	for _, tt := range []struct{ dir, best, reason string }{
		{"bins", ".py", "a dict with combined_score, and EVOLVE-BLOCK markers"},
		{"regress", ".py", "an EvaluationResult with artifacts; replies asked for as diffs"},
		{"tour", ".py", "a cascade of three stages"},
		{"mixture", ".best.json", "no combined_score; data in place of a program, whose name is not the report's"},
	} {
		r, program := evolved(t, tt.dir, tt.best)
		if *r.Trajectory[0].BestFitness <= 0 || r.FinalFitness <= *r.Trajectory[0].BestFitness {
			t.Errorf("%s: from %v to %v: %s", tt.dir, *r.Trajectory[0].BestFitness, r.FinalFitness, tt.reason)
		}
		initial, _ := filepath.Glob(filepath.Join(testdata, tt.dir, "initial*"))
		before, err := os.ReadFile(initial[0])
		if err != nil {
			t.Fatal(err)
		}
		if tt.dir == "bins" { // all that lies before the block and after it is as it was
			head, _, _ := strings.Cut(string(before), "EVOLVE-BLOCK-START")
			_, tail, _ := strings.Cut(string(before), "EVOLVE-BLOCK-END")
			if !strings.HasPrefix(program, head) || !strings.HasSuffix(program, tail) {
				t.Errorf("%s has changed outside its block:\n%s", tt.dir, program)
			}
		}
	}
}

// TestRuntimePython runs a built-in task's Python program, or where that cannot be says what to do.
func TestRuntimePython(t *testing.T) {
	out := t.TempDir()
	err := runGreedy(t.Context(), strings.Fields("--task cp --runtime python --T 2 --N 8 --offline-latency 0 --output "+
		out))
	if _, lacking := python.Find(t.Context(), "numpy"); lacking != nil {
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "needs Python 3.9 or newer with numpy") {
			t.Errorf("error %v, want a usage error that says what is needed", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	best, err := os.ReadFile(filepath.Join(out, "cp", "offline", "greedy_C16_T2_N8_adaptive_seed40.py"))
	if err != nil || !strings.Contains(string(best), "import numpy") {
		t.Errorf("%v: the best program is\n%s", err, best)
	}
}

func TestBadFolder(t *testing.T) {
	var usage *cli.UsageError
	err := runGreedy(t.Context(), []string{"--task", t.TempDir(), "--output", t.TempDir()})
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "there is no initial_program") {
		t.Errorf("error %v, want a usage error that says what is missing", err)
	}
	err = runGreedy(t.Context(), []string{"--task", filepath.Join(t.TempDir(), "none"), "--output", t.TempDir()})
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "or a folder") {
		t.Errorf("error %v, want a usage error that says what there is", err)
	}
}

// A folder whose initial program is invalid, be it the program's fault or the evaluator's, is refused before
// anything is written, and with the fault mended the same command runs.
func TestInvalidInitialProgram(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	for _, tt := range []struct{ reason, program, evaluator, says string }{
		{"an evaluator that breaks", "x = 1\n", "def evaluate(path):\n    return {'combined_score': no_such_name}\n",
			"no_such_name"},
		{"a program that breaks", "x = no_such_value\n",
			"def evaluate(path):\n    exec(open(path).read())\n    return {'combined_score': 1.0}\n", "no_such_value"},
	} {
		dir, out := filepath.Join(t.TempDir(), "mine"), t.TempDir()
		write := func(name, text string) {
			t.Helper()
			if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, name), []byte(text),
				0o666)); err != nil {
				t.Fatal(err)
			}
		}
		write("initial_program.py", tt.program)
		write("evaluator.py", tt.evaluator)
		args := strings.Fields("--T 1 --N 2 --offline-latency 0 --task " + dir + " --output " + out)
		err := runGreedy(t.Context(), args)
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "initial program of task mine is invalid") ||
			!strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want a usage error that says %q", tt.reason, err, tt.says)
		}
		if left, _ := filepath.Glob(filepath.Join(out, "*", "*", "*")); len(left) > 0 {
			t.Errorf("%s: it left %v", tt.reason, left)
		}
		write("initial_program.py", "x = 1\n")
		write("evaluator.py", "def evaluate(path):\n    return {'combined_score': 1.0}\n")
		if err := runGreedy(t.Context(), args); err != nil {
			t.Errorf("%s, mended: %v", tt.reason, err)
		}
	}
}

// A folder whose initial program has several files is improved as a tree is: its result is a patch.
func TestFolderOfSeveralFiles(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	reply := "### codes/encode.py\n<<<<<<< SEARCH\n        code += str(n % 8)\n=======\n        code = str(n % 8) + code\n>>>>>>> REPLACE\n" +
		"### codes/decode.py\n<<<<<<< SEARCH\n    for digit in reversed(code):\n=======\n    for digit in code:\n>>>>>>> REPLACE\n"
	srv := llmtest.NewServer(llmtest.Config{Reply: func(llmtest.Request) string { return reply }})
	defer srv.Close()
	out := t.TempDir()
	args := []string{"--T", "1", "--N", "1", "--breadth", "fixed", "--task", testdata + "pair", "--output", out}
	printed := runtest.Output(t, func() {
		if err := runGreedy(t.Context(), append(args, "--model", "qwen3-8b", "--api-base", srv.URL)); err != nil {
			t.Fatal(err)
		}
	})
	if !strings.Contains(printed, "best      8.000000, from 2.000000") {
		t.Errorf("printed:\n%s", printed)
	}
	patches, err := filepath.Glob(filepath.Join(out, "*", "*", "*.patch"))
	if err != nil || len(patches) != 1 {
		t.Errorf("patches %v, %v", patches, err)
	}
	var usage *cli.UsageError
	if err := runGreedy(t.Context(), append(args, "--anew")); !errors.As(err, &usage) ||
		!strings.Contains(err.Error(), "needs a --model") {
		t.Errorf("with the offline model: %v", err)
	}
}
