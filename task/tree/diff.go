package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff returns what a program changes in the base as a unified diff, which patch -p1 and git apply take.
func (t *Task) Diff(program string) (string, error) {
	p, err := t.read(program)
	if err != nil {
		return "", err
	}
	names := slices.Concat(p.Paths(), p.Deleted)
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		before, there := t.base.text[name]
		if t.base.unended[name] {
			before = strings.TrimSuffix(before, "\n")
		}
		after, kept := p.Files[name]
		from, to := "a/"+name, "b/"+name
		if !there {
			from = "/dev/null"
		}
		if !kept {
			to = "/dev/null"
		}
		if before == "" && after == "" { // of which a unified diff has nothing to say
			what := "new"
			if there {
				what = "deleted"
			}
			fmt.Fprintf(&b, "diff --git a/%s b/%s\n%s file mode 100644\n", name, name, what)
		}
		b.WriteString(udiff.Unified(from, to, before, after))
	}
	return b.String(), nil
}
