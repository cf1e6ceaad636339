package mutate

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/lex"
)

func TestSpliceLines(t *testing.T) {
	const a, b = "def f(x):\n    y = 1\n    return y", "def f(x):\n    z = 2\n    return z"
	python := lex.Likely("python", "")
	mixed := 0
	for i := range 100 {
		got := Splice(a, b, python, seeded(i))
		for line := range strings.Lines(got) {
			if line = strings.TrimRight(line, "\n"); !strings.Contains(a, line) && !strings.Contains(b, line) {
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
}
