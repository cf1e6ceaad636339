package population

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// Attempts of the parent show the last attempts on it, and of no other's.
func TestAttemptsOfParent(t *testing.T) {
	h := &Attempts{Most: 2, OfParent: true}
	try := func(parent int, score float64) {
		p := Member{ID: parent, Candidate: eval.Candidate{Program: "x = 0", Result: eval.Result{Valid: true, Score: 1}}}
		b := Birth{Parent: p}
		b.Program, b.Result = fmt.Sprintf("x = %v", score), eval.Result{Valid: true, Score: score}
		if err := h.Learn(t.Context(), &Season{Births: []Birth{b}}); err != nil {
			t.Fatal(err)
		}
	}
	notes := func(parent int) []string { return h.Section(&View{Parent: Member{ID: parent}}).Lines }
	try(1, 0.5)
	try(2, 3)
	try(1, 1.5)
	try(1, 2.5)
	got := notes(1)
	if len(got) != 2 || !strings.Contains(got[0], "score 1.5, +0.5") || !strings.Contains(got[1], "score 2.5, +1.5") {
		t.Errorf("of parent 1 it tells %q", got)
	}
	if got := notes(2); len(got) != 1 || !strings.Contains(got[0], `"x = 0" became "x = 3"; score 3, +2`) {
		t.Errorf("of parent 2 it tells %q", got)
	}
	if got := notes(3); len(got) > 0 {
		t.Errorf("of a parent without children it tells %q", got)
	}
}
