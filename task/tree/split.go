package tree

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// Split cuts a program into as many parts as any other of the task: what is deleted, and each file. Merges of two
// programs take each part from one of them. Put together the parts are the program. A new file is in the part of the
// open file of the base before it. A text that is no program of the task is one part.
func (t *Task) Split(program string) []string {
	p, err := t.read(program)
	if err != nil {
		return []string{program}
	}
	names := slices.Sorted(maps.Keys(t.base.text))
	parts := make([]string, 2+len(names))
	parts[0] = patch.Patch{Base: p.Base, Deleted: p.Deleted}.String()
	for _, name := range p.Paths() {
		after := sort.Search(len(names), func(i int) bool { return names[i] > name })
		alone := patch.Patch{Files: map[string]string{name: p.Files[name]}}
		parts[1+after] += strings.TrimPrefix(alone.String(), patch.Patch{}.String())
	}
	return parts
}
