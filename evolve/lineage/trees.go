package lineage

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// Base returns the hash of the folder that the programs are changes of, as those of package tree are, or "" if they are
// not.
func (r *Run) Base() string {
	for _, c := range r.Candidates {
		if p, err := patch.Parse(c.Program); err == nil {
			return p.Base
		}
	}
	return ""
}

// WriteTrees writes the run as [Run.WriteGit] does, with the whole tree of each candidate in its commit: the files of
// the folder base with what the program changes. The branch base, from which all others come, has the folder as it is.
//
// The folder must be as it was in the run, which its hash tells. Candidates without a program that is a change of it
// are left out. Empty folders are not in a repository, nor is what is called .git.
func (r *Run) WriteTrees(w io.Writer, base string) error {
	hash, err := patch.Walk(base, nil)
	if err != nil {
		return fmt.Errorf("lineage: %w", err)
	}
	if of := r.Base(); of != hash {
		return fmt.Errorf("%w: they are changes of %q, and %s is %s", ErrBase, of, base, hash)
	}
	kept := r.Without(func(c Candidate) bool {
		p, err := patch.Parse(c.Program)
		return err != nil || p.Base != hash
	})
	return kept.write(w, &trees{dir: base, hash: hash, files: make(map[string]baseFile)})
}

// ErrBase says that the programs of a run are no changes of a folder as it is now.
var ErrBase = errors.New("lineage: the folder is not the base of the programs, or was changed")

// trees are commits with the files of a base folder and what programs change in it.
type trees struct {
	dir, hash string
	files     map[string]baseFile // by path
}

// A baseFile is a file or link of a base.
type baseFile struct {
	mode string
	blob int
}

// Modes of files in git.
const (
	plainMode      = "100644"
	executableMode = "100755"
	linkMode       = "120000"
)

var modes = map[patch.Kind]string{patch.Plain: plainMode, patch.Executable: executableMode, patch.Link: linkMode}

// begin writes the commit of the base.
func (t *trees) begin(s *stream) error {
	var lines []string
	hash, err := patch.Walk(t.dir, func(e patch.Entry) {
		if mode, ok := modes[e.Kind]; ok {
			f := baseFile{mode, s.blob(string(e.Content))}
			t.files[e.Name] = f
			lines = append(lines, modify(f.mode, f.blob, e.Name))
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("lineage: %w", err)
	case hash != t.hash:
		return fmt.Errorf("%w while it was read: %s", ErrBase, t.dir)
	}
	s.root = s.mark()
	s.head("refs/heads/base", s.root, s.run.Candidates[0].Time, "base "+hash+"\n")
	for _, line := range lines {
		s.w.WriteString(line)
	}
	s.w.WriteByte('\n')
	return nil
}

// changes returns what differs from the parent's tree: first what is not there any more, since a folder may stand in
// the place of a file.
func (t *trees) changes(s *stream, c, parent *Candidate) (lines []string) {
	var before patch.Patch
	if parent != nil {
		before, _ = patch.Parse(parent.Program) // which was parsed before it was kept
	}
	after, _ := patch.Parse(c.Program)
	names := slices.Concat(before.Paths(), before.Deleted, after.Paths(), after.Deleted)
	slices.Sort(names)
	var added []string
	for _, name := range slices.Compact(names) {
		was, is := t.fileIn(s, before, name), t.fileIn(s, after, name)
		switch {
		case was == is:
		case is.blob == 0:
			lines = append(lines, "D "+quoted(name)+"\n")
		default:
			added = append(added, modify(is.mode, is.blob, name))
		}
	}
	return append(lines, added...)
}

// fileIn returns what stands at a path in a tree, and no file if nothing does.
func (t *trees) fileIn(s *stream, p patch.Patch, name string) baseFile {
	old, there := t.files[name]
	text, changed := p.Files[name]
	switch {
	case slices.Contains(p.Deleted, name):
		return baseFile{}
	case !changed:
		return old
	case there && old.mode != linkMode:
		return baseFile{old.mode, s.blob(text)}
	case patch.IsScript(text):
		return baseFile{executableMode, s.blob(text)}
	}
	return baseFile{plainMode, s.blob(text)}
}
