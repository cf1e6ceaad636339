package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// baseKey stands for the base of a tree where a program's key is expected. Keys are hexadecimal.
const baseKey = "base"

// bases are folders that programs are changes of, by the hash that programs name.
type bases map[string]string

// readBases finds the hashes of folders.
func readBases(dirs []string) (bases, error) {
	all := make(bases, len(dirs))
	for _, dir := range dirs {
		hash, err := patch.Walk(dir, nil)
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return nil, fmt.Errorf("view: %w", err)
		}
		all[hash] = dir
	}
	return all, nil
}

// file returns a file of a base. It is not known if the folder was not given, or the file cannot be shown.
func (b bases) file(hash, name string) (f treeFile) {
	dir, ok := b[hash]
	if !ok {
		return f
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return f
	}
	defer root.Close()
	switch info, err := root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return treeFile{known: true}
	case err != nil || !info.Mode().IsRegular() || info.Size() > mostCompared:
		return f
	}
	data, err := root.ReadFile(name)
	return treeFile{strings.ToValidUTF8(string(data), "\uFFFD"), true, err == nil}
}

// emptyPatch returns the program that is the base of another one, or false if that is no change of one.
func emptyPatch(program string) (string, bool) {
	p, err := patch.Parse(program)
	return patch.Patch{Base: p.Base}.String(), err == nil
}

// treeDiff returns the changes from one tree to another by file, or false if the programs are of unlike bases.
func (b bases) treeDiff(before, after string) ([]lineChange, bool) {
	from, err := patch.Parse(before)
	if err != nil {
		return nil, false
	}
	to, err := patch.Parse(after)
	if err != nil || to.Base != from.Base {
		return nil, false
	}
	names := slices.Concat(from.Paths(), from.Deleted, to.Paths(), to.Deleted)
	slices.Sort(names)
	d := differ{changes: []lineChange{}}
	room, lines := mostCompared, mostLines
	for _, name := range slices.Compact(names) {
		was, is := b.fileIn(from, name), b.fileIn(to, name)
		if was == is {
			continue
		}
		room -= len(was.text) + len(is.text)
		lines -= 1 + strings.Count(was.text, "\n") + strings.Count(is.text, "\n")
		if room < 0 || lines < 0 || d.full {
			d.changes = append(d.changes, leftOut("the files from %s on", name))
			break
		}
		d.file(name, was, is)
	}
	return d.changes, true
}

// A treeFile is a file of a tree, as far as it is known.
type treeFile struct {
	text  string
	there bool
	known bool
}

func (b bases) fileIn(p patch.Patch, name string) treeFile {
	if text, ok := p.Files[name]; ok {
		return treeFile{text, true, true}
	}
	if slices.Contains(p.Deleted, name) {
		return treeFile{known: true}
	}
	return b.file(p.Base, name)
}

// file adds the changes of one file, under a line with its path.
func (d *differ) file(name string, was, is treeFile) {
	what := ""
	switch {
	case !was.known || !is.known:
		what = ": its text in the base is not known here"
	case !was.there:
		what = ": new"
	case !is.there:
		what = ": deleted"
	}
	d.before, d.after = 0, 0
	d.size += len(name)
	d.changes = append(d.changes, lineChange{Op: "f", Text: name + what})
	d.add(was.text, is.text)
}
