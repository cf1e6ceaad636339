package view

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/task"

	"github.com/evoalloc/evoalloc/llm"
)

// fact returns a fact of a runState.
func fact(t *testing.T, s runState, name string) Fact {
	t.Helper()
	for _, f := range s.Facts {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no fact %q in %v", name, s.Facts)
	return Fact{}
}

// A journal from before records named calls, states and what searches begin with shows what it has.
func TestEarlierJournal(t *testing.T) {
	s := read(t, "../testdata/before_addresses.journal").Saved()
	if len(s.Children.ID) == 0 || len(s.Line) < 2 || len(s.Programs) == 0 {
		t.Fatalf("%d children, %d steps in the line, %d programs", len(s.Children.ID), len(s.Line), len(s.Programs))
	}
	if first := s.Line[0]; first.Row != -1 || first.Program == "" {
		t.Errorf("the line begins with %+v", first)
	}
	for i, program := range s.Children.Program {
		scored := s.Children.Score[i] != nil
		if scored != (s.Children.State[i] == childValid) || program == "" && s.Children.State[i] != childUnparsed {
			t.Errorf("row %d with program %q has the state %d and the reason %q", i, program, s.Children.State[i],
				s.Children.Reason[i])
		}
	}
	if meter(s, "Calls") == 0 || meter(s, "Evaluations") == 0 {
		t.Errorf("meters %+v", s.Meters)
	}
}

// Two runs in one file are one history: the searches of the second come after those of the first.
func TestTwoRunsInOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	children, calls := 0, 0
	for seed := range uint32(2) {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: runtest.Sum(task.Spec{}, 100), LLM: adder, N: 3,
			Seed: 50 + seed})
		if err != nil {
			t.Fatal(err)
		}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 3},
			Journal: j})
		if err != nil {
			t.Fatal(err)
		}
		children, calls = children+9, calls+res.Calls
	}
	s := read(t, path).State(rowCursor{})
	if len(s.Arms) != 2 || s.Arms[1].Program != s.Arms[0].Program || !strings.Contains(s.Arms[1].Name, "run 2") {
		t.Errorf("arms %+v", s.Arms)
	}
	if len(s.Children.ID) != children || meter(s, "Calls") != float64(calls) || len(s.Rounds.Arm) != 6 ||
		s.Rounds.Arm[5] != 1 {
		t.Errorf("%d children, %v calls, rounds of %v", len(s.Children.ID), meter(s, "Calls"), s.Rounds.Arm)
	}
	if f := fact(t, s, "Runs"); f.Value != "2" {
		t.Errorf("the runs are %q", f.Value)
	}
}

// A run that a limit ended and that goes on with a larger one is not over meanwhile.
func TestRaisedRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	stalling := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if req.Seed%2 == 0 {
			a := llm.Attempt{Status: llm.Stalled, Err: "silent for 5 s", MaxTokens: 10, Model: "adder", ActiveParams: 1000}
			return llm.Reply{Attempts: []llm.Attempt{a}}, &llm.Error{Status: llm.Stalled, Err: context.DeadlineExceeded}
		}
		return adder(ctx, req)
	})
	r := trial{path: path, arms: 1, n: 4, rounds: 8, model: stalling, stalls: 2}
	r.run(t)
	if s := read(t, path).State(rowCursor{}); s.Status != "over" ||
		!strings.Contains(fact(t, s, "Stopped").Value, "stalled") {
		t.Errorf("after the limit: status %q, stopped: %q", s.Status, fact(t, s, "Stopped").Value)
	}
	r.stalls = 1000
	res := r.run(t)
	s := read(t, path).State(rowCursor{})
	compareSums(t, s, res)
	raised := 0
	for _, n := range s.Messages {
		if n.Kind == "raise" {
			raised += n.Count
		}
	}
	if raised != 1 || s.Status != "over" || strings.Contains(fact(t, s, "Stopped").Value, "stalled") {
		t.Errorf("raised %d times, status %q, stopped: %q", raised, s.Status, fact(t, s, "Stopped").Value)
	}
	for _, m := range s.Meters {
		if m.Name == "Stalls" && m.Limit != 1000 {
			t.Errorf("the limit of stalls is %v, want the larger one", m.Limit)
		}
	}
}

// A child that is made again keeps its row, and pages that have the first one keep that as it was.
func TestChildMadeAgain(t *testing.T) {
	l := newLog("1", "")
	pull, arm, index := 0, 0, 0
	l.Add(record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm})
	given := record.Record{Kind: record.Child, Pull: &pull, Child: &index, Step: 1,
		Proposal: books.Proposal{ID: 1, State: books.StateAbandoned, Reason: "stopped"}}
	l.Add(given)
	first := l.State(rowCursor{})
	l.Add(record.Record{Kind: record.Pause, Stop: "canceled"})
	made := given
	made.State, made.Valid, made.Score, made.Reason = books.StateValid, true, 3, ""
	l.Add(made)
	s := l.State(first.Next)
	if len(s.Children.ID) != 1 || s.Children.State[0] != childValid || len(s.Best) != 1 {
		t.Errorf("made again: %+v, best %v", s.Children, s.Best)
	}
	if first.Children.State[0] != childAbandoned || first.Children.Score[0] != nil {
		t.Errorf("the page that was sent before changed: %+v", first.Children)
	}
	if rows := s.Ledgers[0].Rows; len(rows) != 1 || rows[0].Children != 1 || rows[0].Valid != 1 {
		t.Errorf("the ledger has %+v", rows)
	}
}
