package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// noPython is whether there is no Python to run evaluators with.
var noPython bool

func TestMain(m *testing.M) {
	_, err := python.Find(context.Background())
	if noPython = err != nil; noPython {
		notrun.Say("task/folder", "all that runs an evaluator.py", err, "install python3")
	}
	before, code := testdataFiles(), m.Run()
	if after := testdataFiles(); !slices.Equal(before, after) {
		fmt.Printf("evaluators have left something behind in their folders: before %q, after %q\n", before, after)
		code = 1
	}
	os.Exit(code)
}

// testdataFiles lists the files of the folders in testdata.
func testdataFiles() []string {
	var names []string
	err := filepath.WalkDir("testdata", func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		panic(err)
	}
	return names
}

// bare is for folders that need nothing but Python, so that no interpreter imports anything.
var bare = Config{Python: python.Config{Imports: []string{}}}

// loaded loads a folder.
func loaded(t *testing.T, dir string, cfg Config) *Task {
	t.Helper()
	if noPython {
		notrun.Skip(t)
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	out, err := Load(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	})
	return out
}

// evaluated scores the initial program.
func evaluated(t *testing.T, task task.Task, program string) eval.Result {
	t.Helper()
	r, err := task.Evaluate(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// A dict, a helper module in the folder, and errors as entries of the dict.
func TestDict(t *testing.T) {
	bins := loaded(t, "testdata/bins", bare)
	r := evaluated(t, bins, bins.Initial())
	if !r.Valid || r.Score < 0.8 || r.Score >= 1 || !near(r.Score, 1/(1+r.Metrics["excess"])) ||
		r.Metrics["combined_score"] != r.Score {
		t.Errorf("the initial program: %+v", r)
	}
	better := evaluated(t, bins, strings.Replace(bins.Initial(), "LEFT = 0.5", "LEFT = -0.5", 1))
	if !better.Valid || better.Score <= r.Score {
		t.Errorf("best fit is no better than worst fit: %v, %v", better, r.Score)
	}
	r = evaluated(t, bins, "def pack(items):\n    return 1\n")
	if r.Valid || !strings.HasPrefix(r.Reason, "1 bins for items that need") {
		t.Errorf("an error in the dict is the reason: %+v", r)
	}
	r = evaluated(t, bins, "def pack(items):\n    return boo(items)\n")
	if r.Valid || !strings.Contains(r.Reason, "boo") || !strings.Contains(r.Artifacts["traceback"], "NameError") {
		t.Errorf("a traceback in the dict is an artifact: %+v", r)
	}
}

// EvaluationResult, with artifacts that the next prompt shows.
func TestArtifacts(t *testing.T) {
	regress := loaded(t, "testdata/regress", bare)
	r := evaluated(t, regress, regress.Initial())
	sum := 0.0
	for i := range 25 {
		x := float64(i) / 4
		e := 2.5 - 0.75*x + 0.3*x*x + 0.1*math.Sin(5*float64(i)) - 1
		sum += e * e
	}
	rmse := math.Sqrt(sum / 25)
	if !r.Valid || !near(r.Metrics["rmse"], rmse) || !near(r.Score, 1/(1+rmse)) {
		t.Errorf("got %+v, want an rmse of %v", r, rmse)
	}
	if !strings.HasPrefix(r.Artifacts["residuals"], "worst at x=6.0: +") ||
		!strings.Contains(r.Artifacts["stdout"], "evaluated 25 points") {
		t.Errorf("artifacts %q", r.Artifacts)
	}
	messages := regress.Prompt(task.Request{Parents: []eval.Candidate{{Program: regress.Initial(), Result: r}}})
	user := messages[1].Content
	for _, want := range []string{"> worst at x=6.0", "<<<<<<< SEARCH", "EVOLVE-BLOCK-START and"} {
		if !strings.Contains(user, want) {
			t.Errorf("no %q in the prompt:\n%s", want, user)
		}
	}
	if !strings.HasPrefix(messages[0].Content, "You find formulas") {
		t.Errorf("system message %q", messages[0].Content)
	}
}

// Three stages: each is run only if the one before reached its threshold.
func TestCascade(t *testing.T) {
	tests := []struct {
		program string
		stage   float64
		reason  string
	}{
		{"", 3, "the initial program reaches all thresholds"},
		{"def tour(points):\n    return list(range(len(points)))\n", 2,
			"a tour in order is good enough for eight points, but not for forty"},
		{"def tour(points):\n    return [0] * len(points)\n", 1, "no tour at all"},
		{"def tour(points):\n    if len(points) > 50: raise ValueError('too many')\n    return list(range(len(points)))\n", 2,
			"a stage that is not run does no harm"},
	}
	tour := loaded(t, "testdata/tour", bare)
	for _, tt := range tests {
		if tt.program == "" {
			tt.program = tour.Initial()
		}
		r := evaluated(t, tour, tt.program)
		if _, large := r.Metrics["large"]; !r.Valid || r.Metrics["stage"] != tt.stage || large != (tt.stage == 3) {
			t.Errorf("got %+v, want stage %v: %s", r, tt.stage, tt.reason)
		}
	}
}

// evaluate is called if the user turns cascades off, and only then.
func TestCascadeOff(t *testing.T) {
	text, err := os.ReadFile("testdata/tour/evaluator.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []bool{false, true} {
		dir := write(t, "initial.py", "def tour(points): return list(range(len(points)))\n", "evaluator.py", string(text),
			"config.yaml", fmt.Sprintf("evaluator: {cascade_evaluation: %v}", !off))
		f := loaded(t, dir, bare)
		r := evaluated(t, f, f.Initial())
		if called := strings.Contains(r.Reason, "evaluate is not called"); called != off {
			t.Errorf("cascade_evaluation %v: %+v", !off, r)
		}
	}
}

// combined_score missing: the mean of the finite numbers. The candidate is data, and its file is
// called as the initial program is.
func TestMean(t *testing.T) {
	mixture := loaded(t, "testdata/mixture", bare)
	r := evaluated(t, mixture, mixture.Initial())
	if !r.Valid || !near(r.Score, (0.72+0.75)/2) {
		t.Errorf("got %+v, want the mean of 0.72 and 0.75", r)
	}
	if got := slices.Sorted(maps.Keys(r.Metrics)); !slices.Equal(got, []string{"cheapness", "strength"}) {
		t.Errorf("metrics %q: neither a bool nor NaN is one", got)
	}
	if r.Artifacts["remark"] != "parts by weight" {
		t.Errorf("artifacts %q: words are artifacts", r.Artifacts)
	}
	r = evaluated(t, mixture, `{"cement": -1}`)
	if r.Valid || r.Reason != "a mixture has four parts, none of them negative" {
		t.Errorf("got %+v, want the dict's error as the reason", r)
	}
}

// A greedy search evolves a folder by diffs: blocks are applied to the parent of the generation, not
// to the initial program, and what is wrong costs one child.
func TestGreedyEvolvesByDiffs(t *testing.T) {
	regress := loaded(t, "testdata/regress", bare)
	replies := []string{
		"<<<<<<< SEARCH\nA, B, C = 1.0, 0.0, 0.0\n=======\nA, B, C = 2.5, 0.0, 0.0\n>>>>>>> REPLACE",
		"<<<<<<< SEARCH\nA, B, C = 2.5, 0.0, 0.0\n=======\nA, B, C = 2.5, -0.75, 0.3\n>>>>>>> REPLACE",
		"<<<<<<< SEARCH\nA, B, C = 1.0, 0.0, 0.0\n=======\nA, B, C = 9.0, 0.0, 0.0\n>>>>>>> REPLACE",
		"<<<<<<< SEARCH\nA, B, C = 2.5, -0.75, 0.3\n=======\nA, B, C = 2.5, -0.75, 0.3\n>>>>>>> REPLACE",
	}
	calls := 0
	model := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		calls++
		return llm.Reply{Text: replies[calls-1], Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: task.WithEvaluator(regress, eval.Limit(regress, 1)), LLM: model,
		N: 1})
	if err != nil {
		t.Fatal(err)
	}
	var errs []string
	for range replies {
		g, err := arm.Step(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		errs = append(errs, g.Children[0].Err)
	}
	if best := arm.Best(); !strings.Contains(best.Program, "A, B, C = 2.5, -0.75, 0.3\n") || best.Result.Score < 0.9 {
		t.Errorf("best %+v", best)
	}
	if errs[0] != "" || errs[1] != "" || !strings.Contains(errs[2], "block 1 of 1 matches nothing") ||
		!strings.Contains(errs[3], "changes nothing") {
		t.Errorf("errors %q", errs)
	}
}

func TestLoadErrors(t *testing.T) {
	if noPython {
		notrun.Skip(t)
	}
	tests := []struct {
		files        []string
		want, reason string
	}{
		{[]string{"initial.py", "x", "evaluator.py", "def score(p): pass"}, "evaluate", "no function to call"},
		{[]string{"initial.py", "x", "evaluator.py", "def evaluate(p):\n  return {"}, "SyntaxError", "not Python"},
		{[]string{"initial.py", "x", "evaluator.py", "import no_such_module_1\ndef evaluate(p): pass"}, "no_such_module_1",
			"a module that is missing"},
		{[]string{"initial.py", "# EVOLVE-BLOCK-START\n", "evaluator.py", "def evaluate(p): pass"},
			"the block that line 1 begins does not end", "half a block"},
		{[]string{"initial.py", "x", "evaluator.py", "def evaluate(p): pass", "config.yaml", "language: a b"},
			`Spec.Language is "a b"`, "two words"},
	}
	for _, tt := range tests {
		dir := write(t, tt.files...)
		f, err := Load(t.Context(), dir, Config{Logger: slog.New(slog.DiscardHandler), Python: bare.Python})
		if err == nil {
			err = errors.Join(errors.New("no error"), f.Close())
		}
		if !strings.HasPrefix(err.Error(), "folder: "+dir+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want one with %s: %s", tt.files, err, tt.want, tt.reason)
		}
	}
}

// Warnings are logged once each, and an evaluator of one's own takes the place of Python's.
func TestLoadWithOwnEvaluator(t *testing.T) {
	var log bytes.Buffer
	var got Evaluation
	f, err := Load(t.Context(), "testdata/regress", Config{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Evaluator: func(_ context.Context, e Evaluation) (eval.Evaluator, error) {
			got = e
			return eval.Func(func(context.Context, string) (eval.Result, error) {
				return eval.Result{Valid: true, Score: 3}, nil
			}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := evaluated(t, f, "x"); r.Score != 3 || got.Suffix != ".py" || !got.NoCascade {
		t.Errorf("result %+v, evaluation %+v", r, got)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 3 || n != len(f.Folder().Warnings) {
		t.Errorf("%d warnings in\n%s", n, &log)
	}
	if strings.Contains(log.String(), "LLM_API_KEY") {
		t.Errorf("a value in\n%s", &log)
	}
	if task.Ext(f) != ".py" {
		t.Errorf("Ext %q", task.Ext(f))
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	failure := errors.New("none")
	if _, err := Load(t.Context(), "testdata/bins", Config{Evaluator: func(context.Context, Evaluation) (eval.Evaluator, error) {
		return nil, failure
	}}); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

// The testdata's own numbers, from Python alone.
func TestScoresAgreeWithPlainPython(t *testing.T) {
	bins := loaded(t, "testdata/bins", Config{})
	interpreter, err := python.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-c",
		"import evaluator; print(repr(evaluator.evaluate('initial_program.py')['combined_score']))")
	cmd.Dir = "testdata/bins"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(evaluated(t, bins, bins.Initial()).Score); got != strings.TrimSpace(string(out)) {
		t.Errorf("score %s, Python alone says %s", got, out)
	}
}
