package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A run that goes on has its own result where it was, and another's under another name.
func TestMakeWay(t *testing.T) {
	score := 1.0
	own := scoredBy(t, func(_ context.Context, program string) (eval.Result, error) {
		return eval.Result{Valid: true, Score: score * float64(len(program))}, nil
	})
	runs := t.TempDir()
	first, second := runOf(t, own, runs, "1"), runOf(t, own, runs, "22")
	score = 2
	third := runOf(t, own, t.TempDir(), "1")
	for _, tt := range []struct {
		reason, result string // of which run
		heldOut        string // the run that its held-out score is of; "" for none
		ending         string
		moved          bool
	}{
		{"its own", first, "", ".json", false},
		{"its own, with a held-out score", first, "hash", ".json", false},
		{"its own, which was not over", first, "", ".partial.json", false},
		{"another one's, with another program", second, "", ".json", true},
		{"another one's, which was not over", second, "", ".partial.json", true},
		{"another one's, of the same program with another score", third, "", ".json", true},
		{"another one's, which differs in the held-out cases", first, "another", ".json", true},
		{"unreadable", "", "", ".json", true},
	} {
		dir := t.TempDir()
		s := saver{path: filepath.Join(dir, "r.json"), ext: ".txt"}
		journal := filepath.Join(dir, "r.log") // which must stay, though its name begins as the result's does
		copied(t, first+".journal", journal, nil)
		if tt.result == "" {
			copied(t, journal, s.base()+tt.ending, []byte("{"))
		} else {
			copied(t, tt.result+".json", s.base()+tt.ending, nil)
		}
		if tt.heldOut != "" {
			withHeldOut(t, s.base()+tt.ending, tt.heldOut)
		}
		moved, err := s.makeWay(journal, "hash")
		if err != nil || exists(s.base()+tt.ending) == tt.moved || exists(s.base()+".1"+tt.ending) != tt.moved ||
			!exists(journal) {
			t.Errorf("%s: %v, %v", tt.reason, moved, err)
		}
		if err := restore(moved); err != nil || !exists(s.base()+tt.ending) {
			t.Errorf("%s: restored: %v", tt.reason, err)
		}
	}
}

// runOf makes a run of own whose model answers so, and returns the name of its journal and its result without endings.
func runOf(t *testing.T, own task.Task, dir, answer string) (base string) {
	t.Helper()
	o := Options{Output: dir}
	f, err := o.Open("r"+answer+".json", own, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	model := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{Text: answer}, nil })
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: own, LLM: model, N: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: 1},
		Journal: f.Journal})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.saver.save(report.NewGreedy(r, report.Header{Task: "own", Model: llm.Model{Key: "m"}, T: 1, N: 1}, 1),
		r); err != nil {
		t.Fatal(err)
	}
	return f.saver.base()
}

// copied writes data to a file, or what another file holds.
func copied(t *testing.T, from, to string, data []byte) {
	t.Helper()
	if data == nil {
		var err error
		if data, err = os.ReadFile(from); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// withHeldOut adds a held-out score of a run to a result.
func withHeldOut(t *testing.T, path, run string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	file["held_out"] = report.HeldOut{Score: 1, Run: run}
	if err := report.Save(path, file); err != nil {
		t.Fatal(err)
	}
}
