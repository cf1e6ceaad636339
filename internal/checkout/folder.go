// Package checkout reads what hostile processes left in a copy of a base folder, or in a layer over it, as a patch of
// the base.
package checkout

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// Bounds of what [Folder.Read] reads.
const (
	mostChanged = 16 << 20  // bytes of all files of a patch
	mostRead    = 256 << 20 // bytes read of files that are new or changed
	mostEntries = 1 << 17   // new files, folders and others
	mostOmitted = 100       // reasons told
)

// A Folder is a base folder as hostile processes, which have ended, left it.
type Folder struct {
	Base string // the folder as it was
	// Dir is the folder as it was left: a copy of the base, or, if Layer is set, the upper folder of an overlay on it
	// with attributes of the user.
	Dir   string
	Layer bool
	// Linked are files that have another name elsewhere, perhaps a file of the host. Otherwise the processes could have
	// made no such name.
	Linked bool
}

// A change is a checkout that is read.
type change struct {
	Folder
	ignored patch.Ignored // of what the base does not have
	patch   patch.Patch
	omitted []string
	hidden  int // reasons beyond mostOmitted
	entries int
	read    int64
	text    int64
}

// Read returns the patch of the base whose hash is given that leads to the checkout. What no patch can hold is left
// out of it: links, pipes, devices, files that are no text, paths that [patch.CheckPath] refuses. So are new files that
// [patch.Ignored] names. omitted tells what, and why. What is called .git is left out without a word. Nothing is followed
// or executed, and a checkout that is too large is an error. Read changes modes in Dir.
func (c Folder) Read(hash string) (p patch.Patch, omitted []string, err error) {
	r := &change{Folder: c, ignored: patch.NewIgnored(c.Base), patch: patch.Patch{Base: hash, Files: make(map[string]string)}}
	root, err := c.open()
	if err != nil {
		return patch.Patch{}, nil, err
	}
	if err := errors.Join(r.folder(root, ".", c.Layer && !isOpaque(root)), root.Close()); err != nil {
		return patch.Patch{}, nil, err
	}
	r.dropTwins()
	slices.Sort(r.patch.Deleted)
	if r.hidden > 0 {
		r.omitted = append(r.omitted, fmt.Sprintf("and %d more", r.hidden))
	}
	if _, err := patch.Parse(r.patch.String()); err != nil {
		return patch.Patch{}, r.omitted, err
	}
	return r.patch, r.omitted, nil
}

// open opens Dir, whose own name the processes could give to something else.
func (c Folder) open() (*os.Root, error) {
	_ = os.Chmod(filepath.Dir(c.Dir), 0o700) // if it does not help, the next call fails
	holds, err := os.OpenRoot(filepath.Dir(c.Dir))
	if err != nil {
		return nil, fmt.Errorf("reading what was left: %w", err)
	}
	defer holds.Close()
	info, err := holds.Lstat(filepath.Base(c.Dir))
	if err != nil {
		return nil, fmt.Errorf("reading what was left: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("the folder was replaced by a %s", kindOf(info.Mode()))
	}
	return openFolder(holds, info.Name())
}

// openFolder opens a folder in root, whatever its mode.
func openFolder(root *os.Root, base string) (*os.Root, error) {
	err := root.Chmod(base, 0o700)
	if err == nil {
		root, err = root.OpenRoot(base)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was left: %w", err)
	}
	return root, nil
}

// File returns the content of the plain file called name in Dir. A larger file than a patch can hold is an error.
func (c Folder) File(name string) ([]byte, error) {
	root, err := c.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading what was left: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s was replaced by a %s", name, kindOf(info.Mode()))
	case c.Linked && HardLinks(info) > 1:
		return nil, fmt.Errorf("%s has another name, perhaps elsewhere", name)
	case info.Size() > patch.MostText:
		return nil, fmt.Errorf("%s has %d bytes: need at most %d", name, info.Size(), patch.MostText)
	}
	f, err := openPlain(root, info)
	if err != nil {
		return nil, fmt.Errorf("reading what was left: %w", err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, patch.MostText))
}

// omit leaves out the entry called name.
func (r *change) omit(name, why string, args ...any) {
	if len(r.omitted) == mostOmitted {
		r.hidden++
		return
	}
	shown := name
	if patch.CheckPath(name) != nil {
		shown = fmt.Sprintf("%.200q", name)
	}
	r.omitted = append(r.omitted, shown+" "+fmt.Sprintf(why, args...))
}

// baseInfo returns what the base has at name, nil if nothing. The folders on the way there are folders of the base.
func (r *change) baseInfo(name string) fs.FileInfo {
	info, err := os.Lstat(r.basePath(name))
	if err != nil {
		return nil
	}
	return info
}

func (r *change) basePath(name string) string {
	return filepath.Join(r.Base, filepath.FromSlash(name))
}

// folder reads the folder called name, whose root is given. merged means that what the base has in it is there too, but
// for what the layer takes away.
func (r *change) folder(root *os.Root, name string, merged bool) error {
	dir, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("reading what was left in %.200q: %w", name, err)
	}
	room := mostEntries - r.entries + 1
	if base, err := os.ReadDir(r.basePath(name)); err == nil {
		room += len(base)
	}
	entries, err := dir.ReadDir(room)
	_ = dir.Close() // only read
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading what was left in %.200q: %w", name, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
		if err := r.entry(root, e, path.Join(name, e.Name()), merged); err != nil {
			return err
		}
	}
	if merged {
		return nil
	}
	return r.missing(name, there)
}

// missing notes what the base has in the folder called name, but for the names that are there.
func (r *change) missing(name string, there map[string]bool) error {
	if info := r.baseInfo(name); info == nil || !info.IsDir() {
		return nil
	}
	entries, err := os.ReadDir(r.basePath(name))
	if err != nil {
		return fmt.Errorf("reading the base: %w", err)
	}
	for _, e := range entries {
		if there[e.Name()] {
			continue
		}
		if err := r.gone(path.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// gone notes that what the base has at name is not there any more.
func (r *change) gone(name string) error {
	switch info := r.baseInfo(name); {
	case info == nil || patch.IsGit(path.Base(name)):
	case info.IsDir():
		return r.missing(name, nil)
	case !info.Mode().IsRegular():
		r.omit(name, "is gone, which only plain files can be: the base has a %s", kindOf(info.Mode()))
	case patch.CheckPath(name) != nil:
		r.omit(name, "is gone, and a patch cannot name it")
	default:
		if r.patch.Deleted = append(r.patch.Deleted, name); len(r.patch.Deleted) > patch.MostFiles {
			return fmt.Errorf("more than %d files were deleted", patch.MostFiles)
		}
	}
	return nil
}

// entry reads an entry of a folder, whose path is name.
func (r *change) entry(root *os.Root, e fs.DirEntry, name string, merged bool) error {
	was := r.baseInfo(name)
	if was == nil {
		if r.entries++; r.entries > mostEntries {
			return fmt.Errorf("more than %d new files were left", mostEntries)
		}
	}
	switch {
	case patch.IsGit(e.Name()):
		return nil
	case was == nil && r.ignored.Matches(name, e.IsDir()):
		r.omit(name, "is ignored")
		return nil
	}
	info, err := root.Lstat(e.Name())
	if err != nil {
		return fmt.Errorf("reading what was left: %w", err)
	}
	switch {
	case r.Layer && isWhiteout(info):
		return r.gone(name)
	case was != nil && was.Mode().Type() != info.Mode().Type():
		r.omit(name, "is a %s in the place of a %s of the base", kindOf(info.Mode()), kindOf(was.Mode()))
		if was.IsDir() || was.Mode().IsRegular() {
			return r.gone(name)
		}
	case info.IsDir():
		return r.below(root, e.Name(), name, merged)
	case info.Mode().IsRegular():
		return r.file(root, info, name, was)
	case was != nil && r.sameLink(root, e.Name(), name):
	default:
		r.omit(name, "is a %s", kindOf(info.Mode()))
	}
	return nil
}

// below reads the folder in root that is called base there.
func (r *change) below(root *os.Root, base, name string, merged bool) error {
	if strings.Count(name, "/")+1 >= patch.MostDeep {
		r.omit(name, "is more than %d folders deep", patch.MostDeep-1)
		return nil
	}
	sub, err := openFolder(root, base)
	if err != nil {
		return err
	}
	err = r.folder(sub, name, merged && !isOpaque(sub))
	return errors.Join(err, sub.Close())
}

// file reads a plain file. was is the file of the base with its path, if there is one.
func (r *change) file(root *os.Root, info fs.FileInfo, name string, was fs.FileInfo) error {
	if r.Linked && HardLinks(info) > 1 {
		r.omit(name, "has another name, perhaps elsewhere")
		return nil
	}
	f, err := openPlain(root, info)
	if err != nil {
		return fmt.Errorf("reading what was left: %w", err)
	}
	defer f.Close()
	if info.Size() > patch.MostText {
		if was == nil || was.Size() != info.Size() || !sameContent(f, r.basePath(name)) {
			r.omit(name, "has %d bytes: need at most %d", info.Size(), patch.MostText)
		}
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(f, patch.MostText+1))
	if err != nil {
		return fmt.Errorf("reading what was left: %w", err)
	}
	var before []byte
	if was != nil {
		if before, err = readUpTo(r.basePath(name), len(content)); err != nil {
			return fmt.Errorf("reading the base: %w", err)
		}
		if string(before) == string(content) {
			return nil
		}
	}
	return r.changed(name, content, before)
}

// changed takes in a file that is new or changed.
func (r *change) changed(name string, content, before []byte) error {
	if r.read += int64(len(content)); r.read > mostRead {
		return fmt.Errorf("more than %d MiB of new and changed files were left", mostRead>>20)
	}
	text, err := patch.TextOf(content)
	if err == nil {
		err = patch.CheckPath(name)
	}
	if err != nil {
		r.omit(name, "cannot be part of a patch: %v", err)
		return nil
	}
	if old, err := patch.TextOf(before); err == nil && before != nil && old == text {
		return nil // but for the end of the last line, which texts have
	}
	r.patch.Files[name] = text
	if r.text += int64(len(text)); r.text > mostChanged {
		return fmt.Errorf("files of more than %d MiB were changed", mostChanged>>20)
	}
	if len(r.patch.Files) > patch.MostFiles {
		return fmt.Errorf("more than %d files were changed", patch.MostFiles)
	}
	return nil
}

// dropTwins leaves out files whose paths differ in case alone from those of others.
func (r *change) dropTwins() {
	seen := make(map[string]string)
	for _, name := range r.patch.Deleted {
		seen[patch.Fold(name)] = name
	}
	for _, name := range r.patch.Paths() {
		if twin, ok := seen[patch.Fold(name)]; ok {
			r.omit(name, "and %s are one file where case does not count", twin)
			delete(r.patch.Files, name)
			continue
		}
		seen[patch.Fold(name)] = name
	}
}

// sameLink reports whether a link leads where that of the base does.
func (r *change) sameLink(root *os.Root, base, name string) bool {
	to, err := root.Readlink(base)
	was, missing := os.Readlink(r.basePath(name))
	return err == nil && missing == nil && to == was
}

// openPlain opens the plain file of info to be read.
func openPlain(root *os.Root, info fs.FileInfo) (*os.File, error) {
	f, err := root.OpenFile(info.Name(), os.O_RDONLY|dontWait, 0)
	if errors.Is(err, fs.ErrPermission) {
		_ = root.Chmod(info.Name(), 0o600) // if it does not help, the next call fails
		f, err = root.OpenFile(info.Name(), os.O_RDONLY|dontWait, 0)
	}
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = fmt.Errorf("%.200q was replaced meanwhile", info.Name())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readUpTo returns the content of a file, or the first of it if it has more than n bytes and a few.
func readUpTo(file string, n int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(n)+2))
}

// sameContent reports whether f has the content of a file of the same size.
func sameContent(f io.Reader, file string) bool {
	g, err := os.Open(file)
	if err != nil {
		return false
	}
	defer g.Close()
	var a, b [64 << 10]byte
	for {
		n, err := io.ReadFull(f, a[:])
		m, _ := io.ReadFull(g, b[:])
		if n != m || string(a[:n]) != string(b[:m]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
