package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A base is the folder that programs are changes of, and the caches beside it. Candidates share them as the lower layer
// of what they see; without layers each gets a copy of the folder, and cannot write to the caches.
type base struct {
	dir    string // "" without a base
	caches []string
	layers bool // what is needed for layers is there
	git    bool // candidates find repositories
	// paths of repositories in the folder, which candidates do not find: folders, and files that name one elsewhere
	gitFolders, gitFiles []string
}

// checkHidden returns an error if a hidden path lies in the base or a cache, which candidates find elsewhere too, where
// nothing is hidden, or in a folder of Writable: Landlock cannot hide part of that, and under private mounts a
// candidate could give the hidden file another name for the next one.
func (c Config) checkHidden() error {
	for _, path := range c.Hide {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // which is an error where it is hidden
		}
		if real, err = filepath.Abs(real); err != nil {
			return err
		}
		for _, dir := range append([]string{c.Base, c.Template}, c.Caches...) {
			if rel, err := filepath.Rel(dir, real); dir != "" && err == nil && filepath.IsLocal(rel) {
				return fmt.Errorf("command: Config.Hide has %s, which is in %s, and candidates find that elsewhere too: keep it "+
					"apart", path, dir)
			}
		}
		for _, dir := range c.Writable {
			if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
				return fmt.Errorf("command: Config.Hide has %s, which is in %s, where candidates may write and move what is "+
					"there: keep it apart", path, dir)
			}
		}
	}
	return nil
}

// newBase finds out whether this machine has layers. why says why not.
func newBase(cfg Config, plan *sandbox.Plan) (b base, why error) {
	b = base{dir: cfg.Base, caches: cfg.Caches, git: cfg.Git}
	if b.dir == "" && len(b.caches) == 0 {
		return b, nil
	}
	if b.dir != "" && !b.git {
		if err := b.findGit(); err != nil {
			return b, err
		}
	}
	lower := slices.DeleteFunc(append([]string{b.dir}, b.caches...), func(d string) bool { return d == "" })
	trial, err := newClaimed(layerName) // which the next process removes if this one is killed
	if err != nil {
		return b, err
	}
	why = errors.Join(plan.TryLayer(trial.dir, len(b.gitFolders) > 0, lower...), trial.remove(false))
	b.layers = why == nil
	return b, why
}

// findGit finds the repositories in the base.
func (b *base) findGit() error {
	return filepath.WalkDir(b.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !patch.IsGit(d.Name()) || at == b.dir {
			return err
		}
		name, err := filepath.Rel(b.dir, at)
		if err == nil && d.IsDir() {
			b.gitFolders = append(b.gitFolders, name)
			return fs.SkipDir
		}
		b.gitFiles = append(b.gitFiles, name)
		return err
	})
}

// files returns the base as a copy has it.
func (b base) files() fs.FS {
	if b.git {
		return os.DirFS(b.dir)
	}
	return withoutGit{os.DirFS(b.dir)}
}

// A withoutGit is a folder without its repositories.
type withoutGit struct{ fs.FS }

var _ fs.ReadLinkFS = withoutGit{}

func (w withoutGit) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(w.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return patch.IsGit(e.Name()) }), err
}

func (w withoutGit) ReadLink(name string) (string, error)   { return fs.ReadLink(w.FS, name) }
func (w withoutGit) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(w.FS, name) }

// check returns why p cannot be laid on the base: a path of it leads through a link or a file of the base, or takes the
// place of a folder.
func (b base) check(p patch.Patch) error {
	for _, name := range p.Paths() {
		if err := b.checkFolders(name, p); err != nil {
			return err
		}
		info, err := os.Lstat(b.path(name))
		if err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no plain file in the base", name)
		}
	}
	for _, name := range p.Deleted {
		info, err := os.Lstat(b.path(name))
		if err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("%s is deleted, and no plain file in the base", name)
		}
		if err := b.checkFolders(name, p); err != nil {
			return err
		}
	}
	return nil
}

// checkFolders checks the folders that lead to the file called name.
func (b base) checkFolders(name string, p patch.Patch) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(b.path(dir)); err == nil && !info.IsDir() {
			return fmt.Errorf("%s, on the way to %s, is no folder in the base", dir, name)
		}
	}
	return nil
}

func (b base) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

// A tree is the base with a program's changes, at a place where a step finds it.
type tree struct {
	made  claimed // the folder of its layers; none if it is a copy
	layer sandbox.Layer
}

// lay puts the base with the changes of p at the folder target, which is there and empty.
func (b base) lay(p patch.Patch, target string) (t tree, err error) {
	if !b.layers {
		if err := os.CopyFS(target, b.files()); err != nil {
			return t, fmt.Errorf("command: copying %s: %w", b.dir, err)
		}
		return t, errors.Join(p.Write(target, b.dir), p.Delete(target))
	}
	t, err = newTree(b.dir, target)
	if err != nil {
		return t, err
	}
	t.layer.Deleted, t.layer.Cleared = slices.Concat(p.Deleted, b.gitFiles), b.gitFolders
	hidden := patch.Patch{Deleted: t.layer.Deleted}
	return t, errors.Join(t.layer.Clear(), p.Write(t.layer.Upper, b.dir), hidden.Folders(t.layer.Upper))
}

// newTree makes the folders of a layer that shows dir at target.
func newTree(dir, target string) (t tree, err error) {
	if t.made, err = newClaimed(layerName); err != nil {
		return t, err
	}
	at, err := filepath.EvalSymlinks(t.made.dir)
	if err != nil {
		return t, fmt.Errorf("command: finding the folder of a layer: %w", err)
	}
	t.layer = sandbox.Layer{Base: dir, Upper: filepath.Join(at, "upper"), Work: filepath.Join(at, "work"), Target: target}
	if err := errors.Join(os.Mkdir(t.layer.Upper, 0o700), os.Mkdir(t.layer.Work, 0o700)); err != nil {
		return t, fmt.Errorf("command: making a layer: %w", err)
	}
	return t, nil
}

// layers returns the layers that a process has to find: none for a copy.
func (t tree) layers(readOnly bool) []sandbox.Layer {
	if t.made.dir == "" {
		return nil
	}
	l := t.layer
	l.ReadOnly = readOnly
	return []sandbox.Layer{l}
}
