package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// fill makes files in a new folder, each with its name as content, and returns it.
func fill(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// held returns the files in dir, with what they were once named where that is another name.
func held(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		was, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if string(was) == e.Name() {
			names = append(names, e.Name())
		} else {
			names = append(names, string(was)+">"+e.Name())
		}
	}
	return names
}

func TestAside(t *testing.T) {
	for _, tt := range []struct {
		reason, before, journal, after string
	}{
		{"a whole run", "r.json r.js r.journal", "r.journal", "r.js>r.1.js r.journal>r.1.journal r.json>r.1.json"},
		{"a partial one, in a language with a program named apart", "r.partial.json r.partial.best.json", "",
			"r.partial.best.json>r.1.partial.best.json r.partial.json>r.1.partial.json"},
		{"the next number, though lower ones are free", "r.7.py r.json r.py", "", "r.7.py r.json>r.8.json r.py>r.8.py"},
		{"a journal that is not this run's stays", "r.journal r.json", "", "r.json>r.1.json r.journal"},
		{"a journal of another name, and a number that it has used", "own.jsonl own.1.jsonl r.json", "own.jsonl",
			"own.1.jsonl own.jsonl>own.2.jsonl r.json>r.2.json"},
		{"answers go where the journal goes", "r.json r.heldout r.journal", "r.journal",
			"r.heldout>r.1.heldout r.journal>r.1.journal r.json>r.1.json"},
		{"answers that a journal elsewhere goes on with", "r.json r.heldout", "", "r.heldout r.json>r.1.json"},
		{"a number that is free for all", "r.json own.1.jsonl own.jsonl r.1.js", "own.jsonl",
			"own.1.jsonl own.jsonl>own.2.jsonl r.1.js r.json>r.2.json"},
		{"runs whose names only begin alike", "r2.json r.1.json .r.json.123 r-x.json", "",
			".r.json.123 r-x.json r.1.json r2.json"},
	} {
		dir := fill(t, strings.Fields(tt.before)...)
		path := tt.journal
		if path != "" {
			path = filepath.Join(dir, path)
		}
		moved, err := (saver{path: filepath.Join(dir, "r.json"), ext: ".js"}).aside(path)
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
		got, want := held(t, dir), strings.Fields(tt.after)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, want)
		}
		if err := restore(moved); err != nil {
			t.Errorf("%s: restoring: %v", tt.reason, err)
		}
		if got, want := held(t, dir), strings.Fields(tt.before); strings.Contains(strings.Join(got, " "), ">") ||
			len(got) != len(want) {
			t.Errorf("%s: restored to %v, want %v", tt.reason, got, want)
		}
	}
}

// What an earlier run left decides what becomes of a new one of the same name.
func TestMakeRoom(t *testing.T) {
	const over, running = "stop", ""
	for _, tt := range []struct {
		reason string
		opts   Options
		stop   evolve.Stop // of the earlier run; "" for one that was killed
		saved  bool
		moved  bool
		says   []string // of the error; none if the run may begin
	}{
		{"finished and saved", Options{}, over, true, true, nil},
		{"finished, and killed before it was saved", Options{}, over, false, false,
			[]string{"not saved", "--T 8 --resume", "--T 8 --anew"}},
		{"not finished", Options{}, running, false, false, []string{"not over", "--T 8 --resume", "--T 8 --anew"}},
		{"not finished, beside the result of one before", Options{}, running, true, false, []string{"not over"}},
		{"to go on with", Options{Resume: true}, running, false, false, nil},
		{"to see again", Options{Resume: true}, over, true, false, nil},
		{"to begin anew", Options{Anew: true}, running, false, true, nil},
		{"a file that a flag names is never taken for one to move", Options{Journal: "named"}, over, true, false,
			[]string{"is over", "--resume", "--anew"}},
	} {
		dir := t.TempDir()
		s := saver{path: filepath.Join(dir, "r.json"), ext: ".js"}
		path := filepath.Join(dir, "r.journal")
		journalOf(t, path, tt.stop)
		if tt.saved {
			if err := os.WriteFile(s.path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		tt.opts.command, tt.opts.args = "bandit", []string{"--T", "8"}
		err := makeRoom(&tt.opts, path, s)
		var usage *UsageError
		if (err == nil) != (tt.says == nil) || err != nil && !errors.As(err, &usage) {
			t.Errorf("%s: %v", tt.reason, err)
		}
		for _, want := range tt.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to say %q", tt.reason, err, want)
			}
		}
		if moved := !exists(path) && exists(filepath.Join(dir, "r.1.journal")); moved != tt.moved || exists(path) == moved {
			t.Errorf("%s: journal moved %v, want %v", tt.reason, moved, tt.moved)
		}
		if exists(s.path) != (tt.saved && !tt.moved) {
			t.Errorf("%s: the result is there %v", tt.reason, exists(s.path))
		}
	}
}

// Where there is nothing to go on with, --resume begins no run that is paid for: it says what there is.
func TestResumeOfNothing(t *testing.T) {
	out := t.TempDir()
	s := saver{path: filepath.Join(out, "cp", "r.json"), ext: ".js"}
	path := filepath.Join(out, "cp", "r.journal")
	o := Options{Resume: true, Output: out, command: "bandit", args: []string{"--T", "8", "--resume"}}
	refused := func(says ...string) {
		t.Helper()
		var usage *UsageError
		err := makeRoom(&o, path, s)
		if !errors.As(err, &usage) {
			t.Fatalf("error %v", err)
		}
		for _, want := range append(says, path, "bandit --T 8") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: want %q in it", err, want)
			}
		}
		if strings.HasSuffix(err.Error(), "--resume") {
			t.Errorf("%v: the command to begin the run has --resume", err)
		}
	}
	refused("there is none below " + out)
	another := filepath.Join(out, "tsp", "s.journal")
	if err := os.MkdirAll(filepath.Dir(another), 0o777); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(another, journal.Config{Command: "greedy --task tsp"})
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	refused(another + " (greedy --task tsp)")
	o.Journal, path = filepath.Join(out, "mine.journal"), filepath.Join(out, "mine.journal")
	journalOf(t, filepath.Join(out, "mine.1.journal"), "stop")
	refused("mine.1.journal")
}

// makeRoom makes room for a run.
func makeRoom(o *Options, path string, s saver) error {
	_, _, err := o.makeRoom(path, s, nil)
	return err
}

// journalOf makes a journal of a run that stopped so, or that was killed half-way.
func journalOf(t *testing.T, path string, stop evolve.Stop) {
	t.Helper()
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if stop == "" {
		return
	}
	if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{done{}}, Journal: j,
		Budget: evolve.Budget{Rounds: 1}}); err != nil {
		t.Fatal(err)
	}
}

// done is a search that is over before it begins.
type done struct{ evolve.Arm }

func (done) Done() bool           { return true }
func (done) Best() eval.Candidate { return eval.Candidate{} }

// A journal that another run has open is not moved from under it, even to begin anew.
func TestMakeRoomLeavesARunningRun(t *testing.T) {
	dir := t.TempDir()
	s := saver{path: filepath.Join(dir, "r.json"), ext: ".js"}
	path := filepath.Join(dir, "r.journal")
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	o := Options{Anew: true}
	if err := makeRoom(&o, path, s); err == nil || !strings.Contains(err.Error(), "another process") ||
		!strings.Contains(err.Error(), "pid") || !exists(path) {
		t.Errorf("error %v, journal there %v", err, exists(path))
	}
}

// What cannot be read to its end is neither gone on with nor moved, unless told to.
func TestMakeRoomOfADamagedJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.journal")
	journalOf(t, path, "stop")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[1][10] ^= 1
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	s := saver{path: filepath.Join(dir, "r.json"), ext: ".js"}
	o := Options{command: "greedy"}
	if err := makeRoom(&o, path, s); err == nil || !strings.Contains(err.Error(), "line 2") ||
		!strings.Contains(err.Error(), "greedy --anew") {
		t.Errorf("error %v, want one that says how to begin anew", err)
	}
	o.Anew = true
	if err := makeRoom(&o, path, s); err != nil || exists(path) || !exists(filepath.Join(dir, "r.1.journal")) {
		t.Errorf("error %v", err)
	}
}

// What is no journal is left alone, whatever flags are given: it is somebody's.
func TestMakeRoomOfWhatIsNoJournal(t *testing.T) {
	dir := fill(t, "notes.txt", "r.journal")
	zeros := filepath.Join(dir, "zeros.journal") // as a disk may leave a journal that it lost
	lines := filepath.Join(dir, "lines.jsonl")
	l, err := wal.Create(lines)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(map[string]string{"kind": "song"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Close(), os.WriteFile(zeros, make([]byte, 4096), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, says string }{
		{dir, "is a directory"},
		{filepath.Join(dir, "notes.txt"), "is no journal"},
		{filepath.Join(dir, "r.journal"), "is no journal"},
		{lines, "is no journal"},
		{zeros, "is no journal, or its first line is damaged; it is left as it is"},
	} {
		before := strings.Join(held(t, dir), " ")
		for _, o := range []Options{{}, {Anew: true}, {Resume: true}} {
			o.Journal = tt.path
			err := makeRoom(&o, tt.path, saver{path: filepath.Join(dir, "x.json"), ext: ".js"})
			var usage *UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "--anew") {
				t.Errorf("%s with %+v: %v, want it to say %q", tt.path, o, err, tt.says)
			}
		}
		if after := strings.Join(held(t, dir), " "); after != before {
			t.Errorf("%s: the folder holds %s, held %s", tt.path, after, before)
		}
	}
}

// A kill before the first record leaves a journal that is empty or torn.
func TestMakeRoomOfATornJournal(t *testing.T) {
	for _, torn := range []string{"", `{"i":0,"ki`} {
		dir := t.TempDir()
		path := filepath.Join(dir, "r.journal")
		if err := os.WriteFile(path, []byte(torn), 0o666); err != nil {
			t.Fatal(err)
		}
		s, o := saver{path: filepath.Join(dir, "r.json"), ext: ".js"}, Options{command: "bandit"}
		_, _, err := o.makeRoom(path, s, journal.Fingerprint{"N": "1"})
		if err == nil || !strings.Contains(err.Error(), "not over; to go on with it: ") ||
			strings.Contains(err.Error(), "another run") {
			t.Errorf("%q: %v, want it to say how to go on", torn, err)
		}
		o.Anew = true
		if err := makeRoom(&o, path, s); err != nil || exists(path) {
			t.Errorf("%q: %v, there %v", torn, err, exists(path))
		}
	}
}
