package evolve_test

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

func TestSlimKeepsWhatCounts(t *testing.T) {
	res := mustRun(t, evolve.Config{Arms: arms(t, 1, 8), Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 5}})
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			if strings.HasPrefix(c.Program, "0.") || strings.HasPrefix(c.Program, "-") {
				t.Errorf("the result keeps the text of a child: %q", c.Program)
			}
			if c.Result.Valid && !c.HasProgram() {
				t.Errorf("child %d lost that it had a program", c.Index)
			}
		}
	}
	var want eval.Candidate
	for _, g := range res.Arms[0].Generations {
		if g.Best.Better(want) {
			want = g.Best
		}
	}
	if res.Best.Program != want.Program {
		t.Errorf("best %q, want %q", res.Best.Program, want.Program)
	}
}
