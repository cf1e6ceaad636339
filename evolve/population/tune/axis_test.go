package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// Whatever a program is, its parameters written with their own values are the program, and with others all but the numbers
// stays.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{"a = 1.5\nb = -2e-9\n", "x[3] = 1_000.5; return-2; y- -1.5", "'1.5' /* 2 */ 0x1F\n7", "\xff9\n"} {
		f.Add(s, 0.5)
	}
	f.Fuzz(func(t *testing.T, program string, u float64) {
		for _, language := range []string{"python", "go", "javascript"} {
			list := parameters(program, language)
			tn := tuning{program: program, numbers: list}
			tn.begin(nil)
			step := make([]float64, len(list))
			if got, _ := tn.write(step); got != program {
				t.Fatalf("%q becomes %q", program, got)
			}
			for i := range step {
				step[i] = math.Mod(u, 1e4)
			}
			got, _ := tn.write(step)
			if strings.Contains(got, "Inf") && !strings.Contains(program, "Inf") {
				t.Fatalf("%q becomes %q", program, got)
			}
			at, before := 0, 0 // how far got and program have been compared
			for _, n := range list {
				found := strings.Index(got[at:], program[before:n.Begin])
				if found < 0 {
					t.Fatalf("%q has lost %q: %q", program, program[before:n.Begin], got)
				}
				at, before = at+found+n.Begin-before, n.End
			}
			if !strings.HasSuffix(got[at:], program[before:]) {
				t.Fatalf("%q has lost %q: %q", program, program[before:], got)
			}
		}
	})
}

func TestAxis(t *testing.T) {
	for _, tt := range []struct {
		n      lex.Literal
		u      float64
		lo, hi float64
		reason string
	}{
		{lex.Literal{Value: 3000, Integer: true}, -5, 20, 21, "five steps take an integer from thousands to tens"},
		{lex.Literal{Value: 3, Integer: true}, -50, 1, 1, "an integer that counts stays one"},
		{lex.Literal{Value: -3, Integer: true}, 50, -1, -1, "and keeps its sign"},
		{lex.Literal{Value: 7, Integer: true}, 300, 7e6, 7e6, "it does not go beyond all measure"},
		{lex.Literal{Value: 2}, 1, 5, 5.6, "a step is a factor of about e"},
		{lex.Literal{Value: 2}, -3, -1, 1, "a real number can change its sign"},
	} {
		if got := axesOf([]lex.Literal{tt.n})[0].at(tt.u); got < tt.lo || got > tt.hi || tt.n.Integer && got != math.Trunc(got) {
			t.Errorf("%+v moved by %v: %v, want %v to %v: %s", tt.n, tt.u, got, tt.lo, tt.hi, tt.reason)
		}
	}
}

// Of very many numbers a few are drawn, in their order.
func TestManyNumbers(t *testing.T) {
	list := parameters(strings.Repeat("x = 1.5\n", 10_000), "python")
	few := draw(list, rand.New(rand.NewPCG(1, 2)))
	if len(list) != 10_000 || len(few) != maxTuned || few[0].Begin == few[1].Begin ||
		!slices.IsSortedFunc(few, func(a, b lex.Literal) int { return a.Begin - b.Begin }) {
		t.Errorf("%d of %d numbers: %v", len(few), len(list), few)
	}
}
