package tree

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// Files returns the paths of the files of a program, also of those that may not be changed, sorted. Of a text that
// is no program of this task it returns those of the base.
func (t *Task) Files(program string) []string {
	p, err := t.read(program)
	if err != nil {
		p = patch.Patch{}
	}
	all := make(map[string]bool)
	for name := range t.base.kind {
		if t.base.isPlain(name) && !slices.Contains(p.Deleted, name) {
			all[name] = true
		}
	}
	for name := range p.Files {
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// File returns the text of a program's file. One that may not be changed is read from the base's folder.
func (t *Task) File(program, name string) (string, error) {
	p, err := t.read(program)
	if err != nil {
		return "", err
	}
	if text, ok := t.base.textIn(p, name); ok {
		return text, nil
	}
	if !t.base.isPlain(name) || slices.Contains(p.Deleted, name) {
		return "", fmt.Errorf("there is no file %.200q", name)
	}
	root, err := os.OpenRoot(t.cfg.Base)
	if err != nil {
		return "", fmt.Errorf("tree: %w", err)
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return "", fmt.Errorf("tree: %w", err)
	case !info.Mode().IsRegular() || info.Size() > patch.MostText:
		return "", fmt.Errorf("%s is no text file of at most %d bytes", name, patch.MostText)
	}
	content, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return "", fmt.Errorf("tree: %w", err)
	}
	text, err := patch.TextOf(content)
	if err != nil {
		return "", fmt.Errorf("%s is no text file: %w", name, err)
	}
	return text, nil
}

// WithFile returns a program with another text of a file, which may be a new one. It fails as a reply does that changes
// what may not change, or nothing ([task.ErrUnchanged]).
func (t *Task) WithFile(program, name, text string) (string, error) {
	p, err := t.read(program)
	if err != nil {
		return "", err
	}
	made := p.Clone()
	if err := t.put(&made, name, ended(text)); err != nil {
		return "", err
	}
	return t.finish(program, made)
}

// WithoutFile returns a program without a file. It fails as WithFile does.
func (t *Task) WithoutFile(program, name string) (string, error) {
	p, err := t.read(program)
	if err != nil {
		return "", err
	}
	made := p.Clone()
	if err := t.apply(&made, change{path: name, delete: true}); err != nil {
		return "", err
	}
	return t.finish(program, made)
}

// Canonical returns a program that something else made of parent as the task writes it: without files that are as in
// the base, sorted. It changes parent file by file. New files that may not be made are left out, and left says why each
// was. It fails as a reply does that changes what may not change, or nothing ([task.ErrUnchanged]).
func (t *Task) Canonical(parent, program string) (made string, left []string, err error) {
	was, err := t.read(parent)
	if err != nil {
		return "", nil, fmt.Errorf("tree: the parent: %w", err)
	}
	now, err := patch.Parse(program)
	if err != nil {
		return "", nil, err
	}
	if now.Base != t.base.hash {
		return "", nil, fmt.Errorf("the program is of the base %s, and not of %s", now.Base, t.base.hash)
	}
	for _, name := range now.Paths() {
		if _, there := t.base.kind[name]; there {
			continue
		}
		if err := t.checkPath(name); err != nil {
			left = append(left, err.Error())
			delete(now.Files, name)
		}
	}
	p, err := t.onto(was, now)
	if err == nil {
		made, err = t.finish(parent, p)
	}
	return made, left, err
}

// onto returns was, changed file by file to what now is. Files with EVOLVE-BLOCK markers change between them alone.
func (t *Task) onto(was, now patch.Patch) (patch.Patch, error) {
	t.normalize(&now)
	made := was.Clone()
	for _, name := range slices.Concat(was.Paths(), was.Deleted, now.Paths(), now.Deleted) {
		if err := t.follow(&made, now, name); err != nil {
			return was, err
		}
	}
	return made, nil
}

// Rules says which files may be changed, for a prompt, with an end of the last line.
func (t *Task) Rules() string {
	text := "Only files of these patterns may be changed, made or deleted: " + strings.Join(t.cfg.Open, ", ") + "."
	if len(t.cfg.Frozen) > 0 {
		text += " These are frozen all the same: " + strings.Join(t.cfg.Frozen, ", ") + "."
	}
	return text + " Other new files are thrown away. To change or delete another file of the tree voids the work.\n"
}

// follow makes the file called name in made what it is in now.
func (t *Task) follow(made *patch.Patch, now patch.Patch, name string) error {
	is, there := t.base.textIn(*made, name)
	text, wanted := t.base.textIn(now, name)
	switch {
	case wanted && (!there || is != text):
		return t.put(made, name, text)
	case !wanted && there:
		return t.apply(made, change{path: name, delete: true})
	case !wanted && slices.Contains(now.Deleted, name) && !slices.Contains(made.Deleted, name):
		return t.checkPath(name) // a file that is no text, or may not be changed
	}
	return nil
}
