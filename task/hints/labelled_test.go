package hints_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/task"
)

// A labelled program says in comments what a person sees on each line: "// want heap, append".
type labelled struct {
	name, text string
	want       []string // "line kind"
}

// readLabelled reads programs that are separated by lines "-- name --". frame makes a whole program of one.
func readLabelled(t testing.TB, file, comment string, frame func(string) string) (all []labelled) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq("\n"+string(data), "\n-- ") {
		name, text, ok := strings.Cut(part, " --\n")
		if !ok {
			continue
		}
		p := labelled{name: name, text: frame(text + "\n")}
		for i, line := range strings.Split(p.text, "\n") {
			if _, kinds, ok := strings.Cut(line, comment+" want "); ok {
				for kind := range strings.SplitSeq(kinds, ", ") {
					p.want = append(p.want, fmt.Sprint(i+1, " ", kind))
				}
			}
		}
		all = append(all, p)
	}
	return all
}

// goFile puts a package clause and the imports that are used before a program, in its first line.
func goFile(text string) string {
	head := "package p;"
	for _, name := range []string{"fmt", "os", "regexp", "strings", "sync"} {
		if strings.Contains(text, name+".") {
			head += fmt.Sprintf(" import %q;", name)
		}
	}
	return head + " " + text
}

// A tally counts findings: those that are labelled, all, and all labels.
type tally struct{ right, found, wanted int }

// judge adds the findings in p to a tally for each kind. Sizes are not judged, as they are counts.
func judge(t testing.TB, h task.Hints, p labelled, by map[string]tally) {
	t.Helper()
	hints, err := h.Hints(p.text)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	var found []string
	for _, h := range hints {
		if f := fmt.Sprint(h.Line, " ", h.Kind); h.Kind != "size" && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	for _, f := range found {
		_, kind, _ := strings.Cut(f, " ")
		c := by[kind]
		c.found++
		if slices.Contains(p.want, f) {
			c.right++
		} else {
			t.Logf("%s: line %s is found, and not labelled", p.name, f)
		}
		by[kind] = c
	}
	for _, w := range p.want {
		_, kind, _ := strings.Cut(w, " ")
		c := by[kind]
		c.wanted++
		by[kind] = c
		if !slices.Contains(found, w) {
			t.Logf("%s: line %s is labelled, and not found", p.name, w)
		}
	}
}

// TestLabelled prints how often findings are right on programs that were labelled by hand, and holds the figures of
// docs/measurements/2026-11-23-hints.md.
func TestLabelled(t *testing.T) {
	for _, tt := range []struct {
		name, file, comment string
		frame               func(string) string
		hints               func(testing.TB) task.Hints
		right               tally
	}{
		{"Go, with the compiler", "testdata/labelled.go.txt", "//", goFile,
			func(t testing.TB) task.Hints { return newGo(t, false) }, tally{12, 13, 14}},
		{"Go, by syntax alone", "testdata/labelled.go.txt", "//", goFile,
			func(t testing.TB) task.Hints { return newGo(t, true) }, tally{7, 9, 14}},
		{"Python", "testdata/labelled.py.txt", "#", func(s string) string { return s },
			func(t testing.TB) task.Hints { return newPython(t, nil) }, tally{13, 13, 16}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reader := tt.hints(t)
			programs := readLabelled(t, tt.file, tt.comment, tt.frame)
			var all tally
			by := map[string]tally{}
			for _, p := range programs {
				if tt.comment == "//" {
					if _, err := parser.ParseFile(token.NewFileSet(), "", p.text, 0); err != nil {
						t.Fatalf("%s: %v", p.name, err)
					}
				}
				judge(t, reader, p, by)
			}
			for _, c := range by {
				all = tally{all.right + c.right, all.found + c.found, all.wanted + c.wanted}
			}
			t.Logf("%s, %d programs: %d of %d findings are right, %d of %d labels are found; by kind %v",
				tt.name, len(programs), all.right, all.found, all.right, all.wanted, by)
			if all != tt.right {
				t.Errorf("%s: %+v, want %+v", tt.name, all, tt.right)
			}
		})
	}
}
