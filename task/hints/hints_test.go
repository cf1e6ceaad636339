package hints_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/task/hints"
)

func newGo(t testing.TB, syntax bool) *hints.Go {
	t.Helper()
	g, err := hints.NewGo(t.Context(), hints.GoConfig{SyntaxOnly: syntax})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func newPython(t testing.TB, sizes map[string]int64) *hints.Python {
	t.Helper()
	p, err := hints.NewPython(t.Context(), hints.PythonConfig{Sizes: sizes, Python: python.Config{Workers: 2}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}
