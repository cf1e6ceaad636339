package hints_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/task"
)

// BenchmarkHints has what it takes to read a program, without a memory, and for comparison what it takes to run the
// smallest Python program, which is the least that its evaluation takes.
func BenchmarkHints(b *testing.B) {
	identity := func(s string) string { return s }
	for _, bb := range []struct {
		name, file, comment string
		frame               func(string) string
		hints               task.Hints
	}{
		{"go", "testdata/labelled.go.txt", "//", goFile, newGo(b, false)},
		{"go-syntax", "testdata/labelled.go.txt", "//", goFile, newGo(b, true)},
		{"python", "testdata/labelled.py.txt", "#", identity, newPython(b, nil)},
	} {
		programs := readLabelled(b, bb.file, bb.comment, bb.frame)
		b.Run(bb.name, func(b *testing.B) {
			bytes, n := 0, 0
			for b.Loop() {
				p := programs[n%len(programs)]
				hints, err := bb.hints.Hints(p.text)
				if err != nil {
					b.Fatal(err)
				}
				for _, h := range hints {
					bytes += len("> line 10: \n") + len(h.Text)
				}
				n++
			}
			b.ReportMetric(float64(bytes)/float64(n), "prompt-bytes/op")
		})
	}
	runner, err := python.NewRunner(b.Context(), python.Config{Workers: 1, Imports: []string{"ast"}})
	if err != nil {
		b.Fatal(err)
	}
	defer runner.Close()
	b.Run("python-evaluation", func(b *testing.B) {
		for b.Loop() {
			if _, err := runner.Run(b.Context(), "def f():\n    return 1\n", "f"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
