package patch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Write writes the files of p below dir, which nothing else uses meanwhile, and makes the folders that it needs. A file
// has the mode of the one with its path below base, and without one can be executed if it begins with "#!". Write does
// not follow links: a path that leads through one in dir is an error.
func (p Patch) Write(dir, base string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	for _, name := range p.Paths() {
		err = errors.Join(err, writeFile(root, name, p.Files[name], p.mode(base, name)))
	}
	return errors.Join(err, root.Close())
}

// mode returns the mode of a file of p.
func (p Patch) mode(base, name string) fs.FileMode {
	info, err := os.Lstat(filepath.Join(base, filepath.FromSlash(name)))
	switch {
	case err == nil && info.Mode().IsRegular():
		return info.Mode().Perm() | 0o600
	case IsScript(p.Files[name]):
		return 0o700
	}
	return 0o600
}

// IsScript reports whether a new file with the text can be executed.
func IsScript(text string) bool { return strings.HasPrefix(text, "#!") }

func writeFile(root *os.Root, name, text string, mode fs.FileMode) error {
	if err := folders(root, path.Dir(name)); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no plain file", name)
		}
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// folders makes a folder and those above it.
func folders(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := folders(root, path.Dir(dir)); err != nil {
		return err
	}
	info, err := root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return root.Mkdir(dir, 0o700)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is no folder", dir)
	}
	return err
}

// Folders makes the folders of the deleted files of p below dir.
func (p Patch) Folders(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	for _, name := range p.Deleted {
		err = errors.Join(err, folders(root, path.Dir(name)))
	}
	return errors.Join(err, root.Close())
}

// Delete removes the deleted files of p below dir. It ignores files that are missing, and files behind a link.
func (p Patch) Delete(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	for _, name := range p.Deleted {
		if !plainFolders(root, path.Dir(name)) {
			continue
		}
		if e := root.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, root.Close())
}

// plainFolders reports whether dir and the folders above it are there, and none of them is a link.
func plainFolders(root *os.Root, dir string) bool {
	if dir == "." {
		return true
	}
	info, err := root.Lstat(dir)
	return err == nil && info.IsDir() && plainFolders(root, path.Dir(dir))
}
