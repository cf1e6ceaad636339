package population_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// What was taken in after a child was briefed does not matter to it, whenever it is judged: otherwise the verdict would
// depend on which call ends first.
func TestGatesKnowWhatTheBriefKnew(t *testing.T) {
	gate := &population.Unlike{}
	take(gate, member(0, "return 0", 0))
	take(gate, member(1, "return 1", 0))
	for _, tt := range []struct {
		taken   int
		program string
		refused bool
	}{
		{1, "return 0", true}, {1, "return 1", false}, {2, "return 1", true}, {2, "return 2", false}, {0, "return 0", false},
	} {
		why, err := gate.Admit(t.Context(), &population.View{Task: script(), Taken: tt.taken}, tt.program)
		if err != nil || (why != "") != tt.refused {
			t.Errorf("%v: %q with %d taken in: %q, %v", gate, tt.program, tt.taken, why, err)
		}
	}
}

// Unlike forgets what is old.
func TestUnlikeForgets(t *testing.T) {
	gate := &population.Unlike{Of: 3}
	for i := range 20 {
		take(gate, member(i, fmt.Sprintf("return f(%d)", i), 0))
		for j := range i + 1 {
			why, err := gate.Admit(t.Context(), &population.View{Task: script(), Taken: i + 1}, fmt.Sprintf("return f(%d)", j))
			if err != nil || (why != "") != (j > i-3) {
				t.Errorf("program %d after %d: %q, %v", j, i, why, err)
			}
		}
	}
}

// The evaluations of a Screen are booked: of each program that is screened one, and of each parent one on each choice
// of cases.
func TestScreenIsBooked(t *testing.T) {
	tk, err := slots()
	if err != nil {
		t.Fatal(err)
	}
	screened := map[string]bool{}
	p := newPopulation(t, population.Config{Task: tk, LLM: editor, N: 8, Window: 1, Gates: []population.Gate{
		population.Screen{On: func(v *population.View) eval.Evaluator {
			screened[v.Parent.Program] = true
			return distances{3}
		}}}, OnChild: func(c evolve.Child) {
		if c.HasProgram() {
			screened[c.Program] = true
		}
	}})
	scored := map[string]bool{tk.Initial(): true}
	res := run(t, p, 100)
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			if c.HasProgram() && c.Err == "" && !c.Duplicate {
				scored[fmt.Sprint(c.ID)] = true
			}
		}
	}
	trimmed := map[string]bool{}
	for program := range screened {
		trimmed[strings.TrimSpace(program)] = true
	}
	if want := len(trimmed) + len(scored); res.Evaluations != want || len(scored) < 3 {
		t.Errorf("%d evaluations are booked, %d programs screened and %d scored", res.Evaluations, len(trimmed), len(scored))
	}
}

// Screen compares on a few cases, strictly.
func TestScreen(t *testing.T) {
	for _, tt := range []struct {
		reason, program string
		admitted        bool
	}{
		{"better there", "3\n0\n0\n0\n0\n0", true},
		{"as good there, though better in all", "0\n-1\n0\n0\n0\n0", false},
		{"worse there, though better in all", "-1\n-1\n4\n-1\n5\n-9", false},
		{"invalid there", "x\n0\n0\n0\n0\n0", false},
	} {
		gate := population.Screen{On: func(*population.View) eval.Evaluator { return distances{1} }}
		v := &population.View{Parent: member(0, "0\n0\n0\n0\n0\n0", -23)}
		if why, err := gate.Admit(t.Context(), v, tt.program); err != nil || (why == "") != tt.admitted {
			t.Errorf("%s: %q, %v", tt.reason, why, err)
		}
	}
	broken := eval.Func(func(context.Context, string) (eval.Result, error) { return eval.Result{}, errors.New("gone") })
	gate := population.Screen{On: func(*population.View) eval.Evaluator { return broken }}
	if _, err := gate.Admit(t.Context(), &population.View{Parent: member(0, "", 0)}, ""); err == nil {
		t.Error("an evaluator that is gone is no error")
	}
}
