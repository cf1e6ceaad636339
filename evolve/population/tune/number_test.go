package tune

import (
	"math"
	"strings"
	"testing"
)

// Whatever a program is, its parameters written with their own values are the program, and with others all but the numbers
// stays.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{"a = 1.5 # tune: 0.1..3\nb = -2e-9\n", "x[3] = 1_000.5; return-2; y- -1.5",
		"'1.5' /* 2 */ 0x1F # tune:\n7 # tune: off", "\xff9 # tune: 1..\n"} {
		f.Add(s, 0.5)
	}
	f.Fuzz(func(t *testing.T, program string, u float64) {
		for _, language := range []string{"python", "go", "javascript"} {
			list := parameters(program, language)
			same, moved := make([]float64, len(list)), make([]float64, len(list))
			for i, a := range axesOf(list) {
				same[i], moved[i] = a.at(0), a.at(math.Mod(u, 1e4))
				if math.IsNaN(moved[i]) || math.IsInf(moved[i], 0) || a.n.Lo < a.n.Hi && u != 0 &&
					(moved[i] < a.n.Lo || moved[i] > a.n.Hi) && !a.n.Integer {
					if u == u && !math.IsInf(u, 0) {
						t.Fatalf("%q: %+v moves to %v", program, a.n, moved[i])
					}
				}
			}
			if got := rewrite(program, list, same); got != program {
				t.Fatalf("%q becomes %q", program, got)
			}
			got := rewrite(program, list, moved)
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
		n      number
		u      float64
		lo, hi float64
		reason string
	}{
		{number{Value: 3000, Integer: true}, -5, 20, 21, "five steps take an integer from thousands to tens"},
		{number{Value: 3, Integer: true}, -50, 1, 1, "an integer that counts stays one"},
		{number{Value: -3, Integer: true}, 50, -1, -1, "and keeps its sign"},
		{number{Value: 7, Integer: true}, 300, 7e6, 7e6, "it does not go beyond all measure"},
		{number{Value: 2}, 1, 5, 5.6, "a step is a factor of about e"},
		{number{Value: 2}, -3, -1, 1, "a real number can change its sign"},
		{number{Value: 0.5, Lo: 0.1, Hi: 3}, 40, 0.1, 3, "bounds hold"},
		{number{Value: 0, Lo: -1, Hi: 1}, 1, 0.5, 0.5, "linear bounds"},
		{number{Value: 9, Lo: 1, Hi: 5, Integer: true}, 0.01, 1, 5, "one that begins outside of its bounds comes in"},
		{number{Value: 2, Lo: 1.5, Hi: 3.5, Integer: true}, 7, 2, 3, "integers within bounds that are none"},
	} {
		if got := axesOf([]number{tt.n})[0].at(tt.u); got < tt.lo || got > tt.hi || tt.n.Integer && got != math.Trunc(got) {
			t.Errorf("%+v moved by %v: %v, want %v to %v: %s", tt.n, tt.u, got, tt.lo, tt.hi, tt.reason)
		}
	}
}
