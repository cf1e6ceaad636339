package tree

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// A base is a folder as it was when it was read.
type base struct {
	hash string            // of all names, kinds, modes and contents
	text map[string]string // of open files, with a line end at the end
	// unended are open files whose last line has no end, which their text has.
	unended map[string]bool
	kind    map[string]fs.FileMode // of everything, by path: its type bits, 0 for plain files
	folded  map[string]string      // all paths, of folders and links too, by patch.Fold
	index   *index                 // of the open files
}

// mostText is the size of an open file beyond which it is not shown and cannot be changed.
const mostText = 1 << 20

// readBase reads dir. open says of a path whether it may change.
func readBase(dir string, open func(path string) bool) (*base, error) {
	b := &base{text: make(map[string]string), unended: make(map[string]bool), kind: make(map[string]fs.FileMode), folded: make(map[string]string)}
	h := sha256.New()
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		if patch.Fold(d.Name()) == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		b.folded[patch.Fold(name)] = name
		content, mode, err := contentOf(at, d)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(h, "%q %s %x\n", name, mode, sum)
		b.kind[name] = d.Type()
		if d.Type().IsRegular() && open(name) && patch.CheckPath(name) == nil {
			if text, ok := textOf(content); ok {
				b.text[name], b.unended[name] = text, len(text) > len(content)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("tree: reading the base: %w", err)
	}
	b.hash = fmt.Sprintf("%x", h.Sum(nil)[:8])
	b.index = newIndex(b.text)
	return b, nil
}

// contentOf returns what the hash holds of a file, link or folder. Of modes only the right to execute counts, as git and
// copies of a folder keep no more.
func contentOf(at string, d fs.DirEntry) (content []byte, mode string, err error) {
	switch {
	case d.IsDir():
		return nil, "folder", nil
	case d.Type()&fs.ModeSymlink != 0:
		to, err := os.Readlink(at)
		return []byte(to), "link", err
	case !d.Type().IsRegular():
		return nil, "", fmt.Errorf("%s is no file, folder or link", at)
	}
	info, err := d.Info()
	if err != nil {
		return nil, "", err
	}
	mode = "file"
	if info.Mode()&0o100 != 0 {
		mode = "executable"
	}
	content, err = os.ReadFile(at)
	return content, mode, err
}

// textOf returns the text of an open file, and false if no program can hold it.
func textOf(content []byte) (string, bool) {
	if len(content) > mostText || !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return "", false
	}
	text := string(content)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, patch.CheckText(text) == nil
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
	kind, ok := b.kind[name]
	return ok && kind.IsRegular()
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
