package evolve_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// programIn returns the program that a prompt asks to change.
func programIn(req llm.Request) string {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(program)
}

// A child of the same score becomes the parent unless the search is strict, and the best stays the first of its score.
func TestGreedyTies(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		initial  string
		programs []string // of the first step's children, by index
		best     string
		parent   string // of the second step, unless the search is strict
		id       int
	}{
		{"a tie drifts", "0", []string{"-1", "0.0", "x"}, "0", "0.0", 2},
		{"of equal children the last is the parent", "0", []string{"2", "2.0", "1"}, "2", "2.0", 2},
		{"a better child ends the drift", "0", []string{"0.0", "0.00", "5"}, "5", "5", 3},
		{"worse and invalid children are no ties", "0", []string{"-1", "x", ""}, "0", "0", 0},
		{"invalid programs are not equal", "y", []string{"x", "z", ""}, "y", "y", 0},
	} {
		for _, strict := range []bool{true, false} {
			var second []string // the programs that the second step was asked to change
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, tt.initial), N: 3, Strict: strict, Window: 1,
				LLM: llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
					for i, program := range tt.programs {
						if req.Seed == evolve.ChildSeed(0, 3, 0, i) {
							return ok(program, 1), nil
						}
					}
					second = append(second, programIn(req))
					return ok("worse than all, as it is no number", 1), nil
				})})
			for range 2 {
				if _, err := g.Step(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			want := tt.parent
			if strict {
				want = tt.best
			}
			if slices.ContainsFunc(second, func(s string) bool { return s != want }) || len(second) != 3 ||
				g.Best().Program != tt.best {
				t.Errorf("%s (strict: %v): parents %q of step 2, want %q; best %q, want %q", tt.reason, strict, second, want,
					g.Best().Program, tt.best)
			}
		}
	}
}

// The record names the parent that the prompt shows.
func TestGreedyRecordsParents(t *testing.T) {
	var shown []string
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 4, Window: 1,
		LLM: llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			shown = append(shown, programIn(req))
			return ok(programIn(req)+"0", 1), nil // 00, 000 and so on score the same
		})})
	gen, err := g.Step(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[int]string{0: "0"}
	for _, c := range gen.Children {
		byID[c.ID] = c.Program
	}
	for i, c := range gen.Children {
		if len(c.Parents) != 1 || c.Parents[0] != i || byID[c.Parents[0]] != shown[i] {
			t.Errorf("child %d is recorded as of %v, and was asked for as a change of %q", c.ID, c.Parents, shown[i])
		}
	}
}

// A journal of a strict run, which has no word on ties, is not taken for one of a search that takes them.
func TestJournalOfAStrictRun(t *testing.T) {
	path := journalPath(t)
	resumed := func(strict bool) error {
		j := openJournal(t, path)
		defer j.Close()
		g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: 4, Strict: strict})
		_, err := evolve.Run(t.Context(), evolve.Config{Journal: j, Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 2}})
		return err
	}
	for _, strict := range []bool{true, true, false} {
		err := resumed(strict)
		if strict && err != nil || !strict && (!errors.Is(err, journal.ErrDiverged) ||
			!strings.Contains(err.Error(), `ties is "", this run's "taken"`)) {
			t.Errorf("strict %v: %v", strict, err)
		}
	}
}
