package patch

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Kind is what an entry of a folder is. Of modes only the right to execute counts, as git and copies of a folder keep
// no more.
type Kind string

const (
	Plain      Kind = "file"
	Executable Kind = "executable"
	Link       Kind = "link"
	Folder     Kind = "folder"
)

// An Entry is a file, link or folder below a base folder.
type Entry struct {
	Name    string // the path from the base, with slashes
	Kind    Kind
	Content []byte // of a file; where a link leads
}

// Walk calls visit, unless it is nil, for everything below dir, in lexical order, and returns the hash by which patches
// name their base: the first 16 hexadecimal digits of SHA-256 over the names, kinds and contents. What is called .git
// does not belong to a base.
func Walk(dir string, visit func(Entry)) (hash string, err error) {
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // a link itself has nothing below it
		return "", fmt.Errorf("reading the base: %w", err)
	}
	h := sha256.New()
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil || rel == "." {
			return err
		}
		if IsGit(d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		e := Entry{Name: filepath.ToSlash(rel)}
		if e.Kind, e.Content, err = contentOf(at, d); err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %s %x\n", e.Name, e.Kind, sha256.Sum256(e.Content))
		if visit != nil {
			visit(e)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the base: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// IsGit reports whether name is that of a repository's own folder.
func IsGit(name string) bool { return Fold(name) == ".git" }

func contentOf(at string, d fs.DirEntry) (Kind, []byte, error) {
	switch {
	case d.IsDir():
		return Folder, nil, nil
	case d.Type()&fs.ModeSymlink != 0:
		to, err := os.Readlink(at)
		return Link, []byte(to), err
	case !d.Type().IsRegular():
		return "", nil, fmt.Errorf("%s is no file, folder or link", at)
	}
	info, err := d.Info()
	if err != nil {
		return "", nil, err
	}
	kind := Plain
	if info.Mode()&0o100 != 0 {
		kind = Executable
	}
	content, err := os.ReadFile(at)
	return kind, content, err
}
