package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// refused wants a UsageError that says all of these.
func refused(t *testing.T, what string, err error, says ...string) {
	t.Helper()
	var usage *cli.UsageError
	if !errors.As(err, &usage) {
		t.Errorf("%s: %v, want a usage error", what, err)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: %v, want %q in it", what, err, s)
		}
	}
}

// What requests hold and what they are charged by is the run's: another is refused, and the same goes on.
func TestSettingsOfModelsDecide(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{})
	defer srv.Close()
	own := "--model own --model-name m --T 1 --N 2 --api-base " + srv.URL + " "
	for _, tt := range []struct{ begun, other string }{
		{`--params-active 5 --extra {"top_k":40}`, `--params-active 5 --extra {"top_k":41}`},
		{"--params-active 5 --reasoning-effort low", "--params-active 5 --reasoning-effort high"},
		{"--params-active 5 --reasoning-effort low", "--params-active 5"},
		{"--params-active 5", "--params-active 6"},
		{"--params-active 5 --price 1,1,1", "--params-active 5 --price 1,1,2"},
	} {
		args := own + "--output " + t.TempDir() + " "
		if err := runGreedy(t.Context(), strings.Fields(args+tt.begun)); err != nil {
			t.Fatal(err)
		}
		before := srv.Stats().Calls
		refused(t, tt.other, runGreedy(t.Context(), strings.Fields(args+tt.other+" --resume")), "model settings", "--anew")
		if err := runGreedy(t.Context(), strings.Fields(args+tt.begun+" --resume")); err != nil {
			t.Errorf("%s: %v", tt.begun, err)
		}
		if n := srv.Stats().Calls - before; n > 0 {
			t.Errorf("%s: %d calls", tt.begun, n)
		}
	}
}

// A limit that is changed before it was reached is told by its flag.
func TestLimitChanged(t *testing.T) {
	run := "--T 4 --N 4 --offline-latency 0 --output " + t.TempDir()
	if err := runGreedy(t.Context(), strings.Fields(run+" --budget-tokens 100000000")); err != nil {
		t.Fatal(err)
	}
	err := runGreedy(t.Context(), strings.Fields(run+" --budget-tokens 200000000 --resume"))
	refused(t, "another limit", err, "can be raised once", "--anew")
}

// A journal that a flag names and that is another run's is told for what it is.
func TestJournalOfAnotherRun(t *testing.T) {
	dir := t.TempDir()
	run := "--T 1 --N 2 --offline-latency 0 --output " + dir + " --journal " + filepath.Join(dir, "own.journal")
	if err := runGreedy(t.Context(), strings.Fields(run)); err != nil {
		t.Fatal(err)
	}
	err := runGreedy(t.Context(), strings.Fields(run+" --seed 7"))
	refused(t, "another seed", err, "tells of another run", `its seed is "40", this run's "7"`, "--anew")
	refused(t, "the same", runGreedy(t.Context(), strings.Fields(run)), "tells of a run that is over", "--resume")
}

// A new run does not write over the result of another one of the same name, whose journal is elsewhere.
func TestResultOfAnotherRunStays(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "cp", "offline")
	run := func(name, more string) {
		t.Helper()
		args := "--T 8 --N 8 --offline-latency 0 --output " + dir + " --journal " + filepath.Join(dir, name+".journal") + more
		if err := runGreedy(t.Context(), strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
	}
	saved := func(ending string) string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(folder, "*seed40"+ending))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	run("first", "")
	first := saved(".json")
	run("second", " --strict")
	second := saved(".json")
	if saved(".1.json") != first || first == second {
		t.Fatalf("the first result is not kept as another run begins, or is its own:\n%s", second)
	}
}

// A journal is not salvaged while a run has it open, nor where a line is sound and its record is not.
func TestNothingToSalvage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "own.journal")
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	l, _, err := wal.Open(path, func(wal.Entry) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(map[string]int{"kind": 7}); err != nil {
		t.Fatal(err)
	}
	salvage := strings.Fields("--T 4 --N 4 --offline-latency 0 --output " + dir + " --journal " + path + " --resume --salvage")
	refused(t, "in use", runGreedy(t.Context(), salvage), "a run has "+path+" open")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, "a bad record", runGreedy(t.Context(), salvage), "kind", "is left as it is")
	after, err := os.ReadFile(path)
	if damaged, _ := filepath.Glob(filepath.Join(dir, "*damaged*")); err != nil || string(after) != string(before) ||
		len(damaged) > 0 {
		t.Errorf("it changed the journal, or left a file: %v, %v", damaged, err)
	}
}

// A damaged journal names the flag with which its run goes on, from what is sound.
func TestSalvage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "own.journal")
	run := strings.Fields("--T 4 --N 4 --offline-latency 0 --output " + dir + " --journal " + path)
	if err := runGreedy(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	resumed := append(run, "--resume")
	salvaged := append(resumed, "--salvage")
	for _, name := range []string{"own.damaged", "own.damaged2"} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := runGreedy(t.Context(), resumed); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Fatalf("damaged: %v", err)
		}
		was, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := runGreedy(t.Context(), salvaged); err != nil {
			t.Fatal(err)
		}
		if kept, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(kept) != string(text) {
			t.Errorf("the damaged file is not kept as %s: %v", name, err)
		}
		// It has both names until the sound one takes the first in one step, so that there is a journal at every instant.
		if is, err := os.Stat(filepath.Join(dir, name)); err != nil || !os.SameFile(was, is) {
			t.Errorf("%s is a copy: %v", name, err)
		}
		if err := runGreedy(t.Context(), salvaged); err != nil { // a sound one goes on as it is
			t.Fatal(err)
		}
	}
	refused(t, "without --resume", runGreedy(t.Context(), append(run, "--salvage")), "--salvage has no effect without --resume")
}
