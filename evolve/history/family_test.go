package history_test

import (
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
)

// small is a run of two arms that begin with one program: a crosses in arm 0, and a repair in arm 1.
func family() *history.Lineage {
	valid := func(arm, step, index, id int, score float64, parents ...int) history.Candidate {
		return history.Candidate{Arm: arm, Pull: step, Step: step, Index: index, Parents: parents,
			Program:  fmt.Sprint(arm, id),
			Proposal: books.Proposal{ID: id, Valid: true, Score: score}}
	}
	broken := valid(1, 1, 0, 1, 0, 0)
	broken.Valid, broken.Reason = false, "line 3: y is not defined"
	return &history.Lineage{Candidates: []history.Candidate{
		{Arm: -1, Pull: -1, Program: "start", Proposal: books.Proposal{Valid: true, Score: 0.25}},
		valid(0, 1, 0, 1, 0.5, 0),
		valid(0, 1, 1, 2, 0.75, 0),
		broken,
		{Arm: 0, Pull: 2, Step: 2, Index: 0, Parents: []int{2}, Proposal: books.Proposal{ID: 3}},
		valid(0, 2, 1, 4, 0.875, 2, 1),
		valid(1, 2, 0, 2, 0.875, 3),
	}}
}

func TestBest(t *testing.T) {
	r := family()
	if got := r.Candidates[r.Best()].Name(); got != "0/2.1" {
		t.Errorf("%s, want the first of equal ones", got)
	}
	if got := new(history.Lineage).Best(); got != -1 {
		t.Errorf("of no candidate: %d, want -1", got)
	}
}

func TestLine(t *testing.T) {
	r := family()
	if got := names(r, r.Line(r.Best())); got != "start 0/1.1 0/2.1" {
		t.Errorf("the champion's line is %s", got)
	}
	if got := r.Line(-1); got != nil {
		t.Errorf("the line of nothing is %v", got)
	}
}
