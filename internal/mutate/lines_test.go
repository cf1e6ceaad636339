package mutate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// seeded returns a Draw of its own for each i.
func seeded(i int) Draw { return Draw{rand.New(rand.NewPCG(uint64(i), 1))} }

func TestSplice(t *testing.T) {
	const a, b = "def f(x):\n    y = 1\n    return y", "def f(x):\n    z = 2\n    return z"
	mixed := 0
	for i := range 100 {
		got := Splice(a, b, seeded(i))
		for line := range strings.SplitSeq(got, "\n") {
			if !strings.Contains(a, line) && !strings.Contains(b, line) {
				t.Fatalf("%q is of neither program", line)
			}
		}
		if strings.Contains(got, "y") && strings.Contains(got, "z") {
			mixed++
		}
	}
	if mixed < 40 {
		t.Errorf("%d of 100 have lines of both", mixed)
	}
	for _, empty := range []string{"", "\n"} {
		Splice(empty, a, seeded(1))
		Splice(a, empty, seeded(1))
	}
}

// Swapped lines have one indentation, and nothing else changes.
func TestSwap(t *testing.T) {
	const program = "f() {\n  a;\n  b;\n    deep;\n\n}"
	for i := range 50 {
		got, ok := Swap(program, seeded(i))
		before, after := strings.Split(program, "\n"), strings.Split(got, "\n")
		if !ok || got == program || after[3] != before[3] || after[4] != "" {
			t.Fatalf("%q, %v", got, ok)
		}
		if slices.Sort(before); !slices.Equal(before, slices.Sorted(slices.Values(after))) {
			t.Fatalf("%q has other lines", got)
		}
	}
	for _, one := range []string{"", "a;", "a;\na;", "a;\n  b;"} {
		if got, ok := Swap(one, seeded(1)); ok || got != one {
			t.Errorf("%q became %q", one, got)
		}
	}
}
