package view

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
)

// After Close a run goes on, and what it tells is not kept: nobody takes it.
func TestObserveAfterClose(t *testing.T) {
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	observe := s.Observe("run")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	told := s.all()[0].told
	before := len(told.records)
	for range 100 {
		observe(evolve.Event{Kind: evolve.EventStop})
	}
	if n := len(told.records) - before; n > 0 {
		t.Errorf("%d records are kept", n)
	}
}

// A run without a journal is shown as its observer hears of it.
func TestObserve(t *testing.T) {
	s := serving(t, ServerConfig{pace: fast})
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: circles(t), LLM: standIn(t, 0), N: 4, Seed: 40}, 2)
	if err != nil {
		t.Fatal(err)
	}
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 24}, Observer: s.Observe("in this process")})
	if err != nil {
		t.Fatal(err)
	}
	st := state(t, s, only(t, s), "")
	if st.Name != "in this process" || st.Status != "over" || len(st.Children.Arm) != 24 || len(st.Rounds.Arm) != 6 {
		t.Fatalf("%q is %s with %d children in %d rounds", st.Name, st.Status, len(st.Children.Arm), len(st.Rounds.Arm))
	}
	if got := *st.Children.Score[st.Best[0]]; got != result.Best.Result.Score {
		t.Errorf("the best score is %v, want %v", got, result.Best.Result.Score)
	}
	for row, pull := range st.Children.Pull {
		if st.Children.Arm[row] != st.Rounds.Arm[pull] {
			t.Errorf("child %d of pull %d is of arm %d, want %d", row, pull, st.Children.Arm[row], st.Rounds.Arm[pull])
		}
	}
	improved := 0
	for _, arm := range result.Arms {
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				if c.Scored() && c.Better(g.Before) {
					improved++
				}
			}
		}
	}
	if row := st.Ledgers[0].Rows[0]; row.Improved != improved || !st.Arms[0].Valid || st.Arms[0].Start != result.Arms[0].Start.Result.Score {
		t.Errorf("%d children improved on %+v, want %d on %v", row.Improved, st.Arms[0], improved, result.Arms[0].Start.Result.Score)
	}
	for _, f := range st.Facts {
		if strings.Contains(f.Note, "initial program is invalid") || strings.Contains(f.Value, "limit of  was") {
			t.Errorf("%s: %s (%s)", f.Name, f.Value, f.Note)
		}
	}
	if status, body, _ := get(t, s, "/api/program?run="+st.ID+"&key="+st.Children.Program[st.Best[0]]); status != 200 {
		t.Errorf("the best program is answered %d %s", status, body)
	}
}
