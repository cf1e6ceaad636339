package tree

import (
	"fmt"
	"path"
	"slices"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// A base is a folder as it was when it was read.
type base struct {
	hash string            // of all names, kinds, modes and contents
	text map[string]string // of open files, with a line end at the end
	// unended are open files whose last line has no end, which their text has.
	unended map[string]bool
	kind    map[string]patch.Kind // of everything, by path
	folded  map[string]string     // all paths, of folders and links too, by patch.Fold
	index   *index                // of the open files
}

// readBase reads dir. open says of a path whether it may change.
func readBase(dir string, open func(path string) bool) (*base, error) {
	b := &base{text: make(map[string]string), unended: make(map[string]bool), kind: make(map[string]patch.Kind),
		folded: make(map[string]string)}
	var err error
	b.hash, err = patch.Walk(dir, func(e patch.Entry) {
		b.folded[patch.Fold(e.Name)] = e.Name
		b.kind[e.Name] = e.Kind
		if b.isPlain(e.Name) && open(e.Name) && patch.CheckPath(e.Name) == nil {
			if text, err := patch.TextOf(e.Content); err == nil {
				b.text[e.Name], b.unended[e.Name] = text, len(text) > len(e.Content)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	b.index = newIndex(b.text)
	return b, nil
}

// textIn returns the text of an open file in the tree of p, and false if there is none.
func (b *base) textIn(p patch.Patch, name string) (string, bool) {
	if text, ok := p.Files[name]; ok {
		return text, true
	}
	if slices.Contains(p.Deleted, name) {
		return "", false
	}
	text, ok := b.text[name]
	return text, ok
}

// pathsIn returns the paths of the open files in the tree of p, sorted.
func (b *base) pathsIn(p patch.Patch) []string {
	var all []string
	for name := range b.text {
		if !slices.Contains(p.Deleted, name) {
			all = append(all, name)
		}
	}
	for name := range p.Files {
		if _, ok := b.text[name]; !ok {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// isPlain reports whether the base has a plain file with the path.
func (b *base) isPlain(name string) bool {
	kind := b.kind[name]
	return kind == patch.Plain || kind == patch.Executable
}

// twin returns a path of the base that is name where case does not count, or leads to it, and differs from it.
func (b *base) twin(name string) (string, bool) {
	for at := name; at != "."; at = path.Dir(at) {
		if there, ok := b.folded[patch.Fold(at)]; ok && there != at {
			return there, true
		}
	}
	return "", false
}
