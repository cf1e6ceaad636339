package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/dues"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

// ranText runs the example on prompts and returns its result and what it printed.
func ranText(t *testing.T, args string) (r report.Greedy, printed string) {
	t.Helper()
	return ranTextIn(t, t.TempDir(), args)
}

// ranTextIn is ranText with its results below the folder out.
func ranTextIn(t *testing.T, out, args string) (r report.Greedy, printed string) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, all := os.Stdout, make(chan string)
	os.Stdout = write
	go func() {
		text, _ := io.ReadAll(read)
		all <- string(text)
	}()
	err = runGreedy(t.Context(), strings.Fields("--task text --T 8 --N 64 --offline-latency 0 --output "+out+" "+args))
	os.Stdout = stdout
	write.Close()
	if printed = <-all; err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	data, err := os.ReadFile(filepath.Join(out, "text", "offline", "greedy_C512_T8_N64_adaptive_seed40.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r, printed
}

// Prompts get better offline, on cases that the search did not see too.
func TestText(t *testing.T) {
	r, printed := ranText(t, "")
	switch h := r.HeldOut; {
	case h == nil || h.Gap == nil || h.Cases != 20:
		t.Errorf("held out: %+v", h)
	case *r.Trajectory[0].BestFitness > 0.2 || r.FinalFitness < 0.8 || h.Score < 0.7 || h.Note != "":
		t.Errorf("from %v to %v, and %v on cases held out: %s", *r.Trajectory[0].BestFitness, r.FinalFitness, h.Score, h.Note)
	case r.Uses["evaluation"].Calls == 0 || h.Use.Calls != 20 || !strings.Contains(printed, "held out: "):
		t.Errorf("%+v calls, and %+v for cases held out:\n%s", r.Uses, h.Use, printed)
	}
}

// What a finished run asked to score held-out cases is not asked again when the run is begun again.
func TestHeldOutIsPaidForOnce(t *testing.T) {
	out := t.TempDir()
	first, printed := ranTextIn(t, out, "")
	again, printedAgain := ranTextIn(t, out, "--resume")
	const asked, before = "to score held-out cases asked 20 calls", "nothing was asked for them again"
	if !strings.Contains(printed, asked) || strings.Contains(printedAgain, asked) ||
		!strings.Contains(printedAgain, before) {
		t.Errorf("printed:\n%s\nand then:\n%s", printed, printedAgain)
	}
	if first.HeldOut == nil || !reflect.DeepEqual(first.HeldOut, again.HeldOut) {
		t.Errorf("held out: %+v, and then %+v", first.HeldOut, again.HeldOut)
	}
}

// A score of held-out cases is its own run's, also where another run's result has the same name and the same program.
func TestHeldOutOfAnotherRun(t *testing.T) {
	out, scores := t.TempDir(), map[string]float64{}
	prompt := filepath.Join(out, "prompt.txt")
	if err := os.WriteFile(prompt, []byte(dues.Initial), 0o666); err != nil {
		t.Fatal(err)
	}
	cases := func(name, want string) string {
		path := filepath.Join(out, name+".jsonl")
		text := ""
		for set, wanted := range map[string]string{"train": "t", "validation": "v", "held_out": want} {
			text += fmt.Sprintf("{\"input\": %q, \"want\": %q, \"set\": %q}\n", set, wanted, set)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return "--strict --prompt " + prompt + " --cases " + path + " --journal " + filepath.Join(out, name+".journal")
	}
	first, second := cases("first", "x"), cases("second", "y")
	for _, run := range []string{first, second, first + " --resume"} {
		r, printed := ranTextIn(t, out, run)
		if r.HeldOut == nil || r.HeldOut.Run == "" {
			t.Fatalf("held out: %+v", r.HeldOut)
		}
		if run == first+" --resume" && (strings.Contains(printed, "were scored before") || r.HeldOut.Run == "" ||
			scores[r.HeldOut.Run] != r.HeldOut.Score || len(scores) != 2) {
			t.Errorf("it takes another run's score: %+v, known are %v:\n%s", r.HeldOut, scores, printed)
		}
		scores[r.HeldOut.Run] = r.HeldOut.Score
	}
}

// A prompt that holds the answers of the cases which it is scored on does much worse on others, and the summary and the
// result say so.
func TestLeakedCases(t *testing.T) {
	prompt := dues.Initial + "\n"
	for _, c := range dues.Cases().Validation {
		prompt += fmt.Sprintf("For %q answer %q\n", c.Input, c.Want)
	}
	path := filepath.Join(t.TempDir(), "prompt.txt")
	if err := os.WriteFile(path, []byte(prompt), 0o666); err != nil {
		t.Fatal(err)
	}
	r, printed := ranText(t, "--prompt "+path)
	h := r.HeldOut
	if r.FinalFitness != 1 || h == nil || h.Score > 0.5 || h.Gap == nil || h.Gap.Low < 0.3 {
		t.Fatalf("searched score %v, held out %+v", r.FinalFitness, h)
	}
	const words = "is lower than the searched score 1 by more than chance explains"
	if !strings.Contains(h.Note, words) || !strings.Contains(printed, "warning: the held-out score") ||
		!strings.Contains(printed, words) {
		t.Errorf("the result says %q, and the summary:\n%s", h.Note, printed)
	}
}

// ownCases writes a file of nine cases.
func ownCases(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for i := range 9 {
		fmt.Fprintf(&b, "{\"input\": \"ada fox | %d | 2024-03-09\", \"want\": \"Sure! ada fox | %d | 2024-03-09\"}\n", i, i)
	}
	path := filepath.Join(dir, "cases.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A search that has nothing to ask for, as its parents are perfect, says so.
func TestPerfectParentsAreNoSilentEnd(t *testing.T) {
	dir := t.TempDir()
	prompt := filepath.Join(dir, "prompt.txt")
	if err := os.WriteFile(prompt, []byte(dues.Initial), 0o666); err != nil {
		t.Fatal(err)
	}
	args := "--task text --T 8 --N 64 --offline-latency 0 --output " + dir + " --cases " + ownCases(t, dir) +
		" --prompt " + prompt + " --like "
	for like, want := range map[string]string{
		"gepa":   "gepa ended before the budget: its last children asked for nothing. Of the last one: there is nothing to reflect on",
		"greedy": "",
	} {
		printed := runtest.Output(t, func() {
			if err := runPopulations(t.Context(), strings.Fields(args+like)); err != nil {
				t.Error(err)
			}
		})
		if want == "" && strings.Contains(printed, "ended before") || !strings.Contains(printed, want) {
			t.Errorf("%s: want %q in\n%s", like, want, printed)
		}
	}
}

// Cases of the user's own are scored by what they want, or by a folder's evaluator.
func TestOwnCases(t *testing.T) {
	dir := t.TempDir()
	cases := ownCases(t, dir)
	prompt := filepath.Join(dir, "prompt.txt")
	if err := os.WriteFile(prompt, []byte(dues.Initial), 0o666); err != nil {
		t.Fatal(err)
	}
	if r, _ := ranText(t, "--cases "+cases+" --prompt "+prompt); *r.Trajectory[0].BestFitness != 1 || r.HeldOut == nil ||
		r.HeldOut.Score != 1 {
		t.Errorf("the initial prompt has %v, and held out %+v", *r.Trajectory[0].BestFitness, r.HeldOut)
	}
	if noPython {
		notrun.Skip(t)
	}
	for name, text := range map[string]string{
		"initial_program.txt": "Answer in a sentence.\n",
		"evaluator.py": "import json\n\ndef evaluate(path):\n    case = json.load(open(path))\n" +
			"    return {'combined_score': 0.5 if 'owed' in case['reply'] and case['want'].startswith('Sure') else 0.0}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if r, _ := ranText(t, "--cases "+cases+" --scorer "+dir); *r.Trajectory[0].BestFitness != 0.5 ||
		r.HeldOut.Score != 0.5 {
		t.Errorf("by the folder the initial prompt has %v, and held out %+v", *r.Trajectory[0].BestFitness, r.HeldOut)
	}
}

// A search that tries minibatches first is refused a budget that is too small for its first child, and has one with the
// least that is not.
func TestBudgetOfMinibatches(t *testing.T) {
	run := func(calls string) error {
		return runPopulations(t.Context(), strings.Fields("--like gepa --task text --N 1 --seed 43 --offline-latency 0 --output "+
			t.TempDir()+" --T "+calls))
	}
	refused(t, "one too few", run("46"), "20 for its cases", "6 for train cases", "at least T·N = 47")
	var err error
	if printed := runtest.Output(t, func() { err = run("47") }); err != nil ||
		!strings.Contains(printed, "children  1: 1 valid") {
		t.Errorf("with the least: %v\n%s", err, printed)
	}
}

func TestBadTextFlags(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, says, reason string }{
		{"--task cp --cases x", "--cases has no effect on the task cp", "its programs are no prompts"},
		{"--task text --runtime python", "--runtime has no effect on --task text", "a model answers"},
		{"--task text --scorer x", "--scorer has no effect without --cases", "the built-in cases have a scorer"},
		{"--task text --cases " + bad + ".none", "--cases", "there is no such file"},
		{"--task text --cases " + bad, "--cases needs a prompt to begin with", "the built-in one is for the built-in cases"},
		{"--task text --cases " + bad + " --prompt " + bad, `line 1: the case has no "input"`, "the line is named"},
		{"--task text --prompt " + bad + ".none", "--prompt", "there is no such file"},
	} {
		var usage *cli.UsageError
		err := runGreedy(t.Context(), append(strings.Fields(tt.args), "--output", t.TempDir()))
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want a usage error that says %q: %s", tt.args, err, tt.says, tt.reason)
		}
	}
}
