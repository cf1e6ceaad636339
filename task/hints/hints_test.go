package hints_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task/hints"
)

// noPython is why there is no Python on this machine; nil if there is one.
var noPython error

func TestMain(m *testing.M) {
	if _, noPython = python.Find(context.Background()); noPython != nil {
		notrun.Say("task/hints", "what reads Python programs", noPython, "install python3")
		if err := flag.Set("test.skip", "^ExamplePython$"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func newGo(t testing.TB) *hints.Go {
	t.Helper()
	g, err := hints.NewGo(t.Context(), hints.GoConfig{})
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

func newPython(t testing.TB) *hints.Python {
	t.Helper()
	if noPython != nil {
		notrun.Skip(t)
	}
	p, err := hints.NewPython(t.Context(), hints.PythonConfig{Python: python.Config{Workers: 2}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}
