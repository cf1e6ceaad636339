package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/evoalloc/evoalloc/internal/checkout"
)

// Bounds of what a step may leave for the next one: more than a build needs, and little enough to check within seconds.
const (
	mostFiles = 1 << 17
	mostDeep  = 64
)

// A settling prepares a folder whose processes have ended for the next step: all of it becomes readable and read-only.
type settling struct {
	execute bool // make every plain file executable, since a contained step cannot
	plain   bool // remove all but plain files and folders: a link could lead to any file of its reader
	layer   bool // the folder is a layer, in which devices hide files of the base
	inside  bool // hard links to files elsewhere are impossible here
	files   int  // seen so far
}

// settle settles the folder name in scratch. An error is the fault of the step that left the folder so, as a link
// perhaps.
func (s settling) settle(scratch, name string) error {
	root, err := os.OpenRoot(scratch)
	if err == nil {
		err = errors.Join(s.sub(root, name, -1), root.Close())
	}
	if err != nil {
		return fmt.Errorf("left what the next step cannot be shown: %w", err)
	}
	return nil
}

// sub settles a folder in root at that depth.
func (s *settling) sub(root *os.Root, name string, depth int) error {
	if depth >= mostDeep {
		return fmt.Errorf("folders nested deeper than %d", mostDeep)
	}
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is no folder any more", name))
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	return errors.Join(s.folder(sub, depth+1), sub.Close())
}

func (s *settling) folder(root *os.Root, depth int) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(mostFiles - s.files + 1)
	_ = dir.Close() // only read
	if s.files += len(entries); s.files > mostFiles {
		return fmt.Errorf("more than %d files", mostFiles)
	}
	if err != nil && len(entries) > 0 {
		return err
	}
	for _, e := range entries {
		if err := s.entry(root, e, depth); err != nil {
			return err
		}
	}
	return root.Chmod(".", 0o500)
}

func (s *settling) entry(root *os.Root, e fs.DirEntry, depth int) error {
	switch {
	case e.IsDir():
		return s.sub(root, e.Name(), depth)
	case e.Type().IsRegular():
		info, err := root.Lstat(e.Name())
		if err != nil || !s.inside && checkout.HardLinks(info) > 1 {
			return err // the file may be elsewhere, under another name
		}
		mode := info.Mode().Perm()&0o100 | 0o400
		if s.execute {
			mode |= 0o100
		}
		return root.Chmod(e.Name(), mode)
	case s.plain && !(s.layer && e.Type()&fs.ModeCharDevice != 0):
		return root.Remove(e.Name())
	}
	return nil
}
