//go:build unix && !solaris && !aix

package claim

import (
	"errors"
	"os"
	"syscall"
)

// take locks a descriptor of its own, which no child process inherits. It does not wait for who has locked the file
// already: that is a sweep, which removes it, or a candidate, which can lock whatever it can open and may keep it for
// long.
func take(path string) (release func(), err error) {
	f, err := open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrGone
	}
	if err != nil {
		return func() {}, nil // nor can Sweep open it
	}
	release = func() { f.Close() }
	switch err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		release()
		return nil, ErrGone
	case err != nil:
		return release, nil // no locks here
	}
	// Before its claim the file was unmarked, so another process may have swept it.
	mine, err := f.Stat()
	if err != nil {
		release()
		return nil, err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(mine, there) {
		release()
		return nil, ErrGone
	}
	return release, nil
}

// sweep calls remove if no process holds the lock on the file at path and the file is this user's. It holds the lock
// meanwhile, so that [Take] takes the file for gone.
func sweep(path string, remove func(string) error) {
	f, err := open(path)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return // in a shared folder, other users may use any name
	}
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = remove(path)
	}
}

// open opens a file or folder without following links or blocking.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// flock locks f as how says.
func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for failed = syscall.EINTR; failed == syscall.EINTR; {
			failed = syscall.Flock(int(fd), how)
		}
	})
	return errors.Join(err, failed)
}
