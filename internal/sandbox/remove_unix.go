//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A descent is the state of removing a tree of folders. However deep the tree is, at most two folders are open at once,
// and no path is longer than a name: a candidate can nest folders deeper than the limits on open files and path
// lengths. However many entries a folder has, atOnce of them are in memory.
type descent struct {
	folder *os.File  // the current folder
	names  []string  // names of the folders on the way there
	left   []listing // what is to remove: in the first, in those on the way, in the current one
}

// A listing is the first entries of a folder that are folders themselves, and whether there are entries after them.
type listing struct {
	folders []string
	more    bool
}

// atOnce bounds the entries that are listed at once.
const atOnce = 1024

// empty removes the contents of a folder, until stop is closed. stop may be nil.
func empty(stop <-chan struct{}, dir string) error {
	var d descent
	err := d.open(unix.AT_FDCWD, dir)
	if err == nil {
		err = d.enter()
	}
	for err == nil {
		select {
		case <-stop:
			err = ErrStopped
		default:
			err = d.step()
		}
	}
	if d.folder != nil {
		_ = d.folder.Close() // only read
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// step goes one folder down or up. The error is io.EOF at the end.
func (d *descent) step() error {
	last := len(d.left) - 1
	here := &d.left[last]
	if n := len(here.folders); n > 0 {
		name := here.folders[n-1]
		here.folders = here.folders[:n-1]
		// One that is empty goes whoever owns it. What is gone a dying process has removed.
		switch err := unix.Unlinkat(int(d.folder.Fd()), name, unix.AT_REMOVEDIR); {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		}
		d.names = append(d.names, name)
		if err := d.open(int(d.folder.Fd()), name); err != nil {
			return err
		}
		return d.enter()
	}
	if here.more {
		return d.removeFiles()
	}
	if last == 0 {
		return io.EOF
	}
	if err := d.open(int(d.folder.Fd()), ".."); err != nil {
		return err
	}
	name := d.names[last-1]
	d.left, d.names = d.left[:last], d.names[:last-1]
	if err := unix.Unlinkat(int(d.folder.Fd()), name, unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("removing the folder %q: %w", name, err)
	}
	return nil
}

// open goes to a folder, named relative to the folder at, and makes it accessible.
func (d *descent) open(at int, name string) error {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(at, name, flags, 0)
	if errors.Is(err, unix.EACCES) {
		_ = unix.Fchmodat(at, name, 0o700, 0) // if it does not help, the next call fails
		fd, err = unix.Openat(at, name, flags, 0)
	}
	if err != nil {
		return fmt.Errorf("opening the folder %q: %w", name, err)
	}
	_ = unix.Fchmod(fd, 0o700) // if it does not help, removing fails
	if d.folder != nil {
		_ = d.folder.Close() // only read
	}
	d.folder = os.NewFile(uintptr(fd), name)
	return nil
}

// enter begins with the folder that was opened.
func (d *descent) enter() error {
	d.left = append(d.left, listing{})
	return d.removeFiles()
}

// removeFiles lists the first entries of the folder, removes the files among them, and records the folders.
func (d *descent) removeFiles() error {
	if _, err := d.folder.Seek(0, io.SeekStart); err != nil {
		return err
	}
	names, err := d.folder.Readdirnames(atOnce)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	here := listing{more: len(names) == atOnce}
	for _, name := range names {
		err := unix.Unlinkat(int(d.folder.Fd()), name, 0)
		switch {
		case errors.Is(err, unix.ENOENT): // a process that dies can still remove what it made
		case errors.Is(err, unix.EISDIR), errors.Is(err, unix.EPERM): // the second by POSIX
			here.folders = append(here.folders, name)
		case err != nil:
			return fmt.Errorf("removing the file %q: %w", name, err)
		}
	}
	d.left[len(d.left)-1] = here
	return nil
}
